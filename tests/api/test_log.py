"""Log lines of requests."""

from __future__ import annotations

import logging

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server


async def test_requests_are_logged_with_their_ids_and_users_and_no_header(caplog: pytest.LogCaptureFixture) -> None:
    """apiserver `pkg/server/httplog`: from verbosity 3."""
    caplog.set_level(logging.INFO, "hydrofoil")
    server = Server(Config(port=0, verbosity=3))
    await server.start()
    try:
        headers = {"Audit-ID": "known", "Authorization": "Bearer hidden-token"}
        async with aiohttp.ClientSession(server.url, headers=headers) as session, session.get("/version") as r:
            assert r.status == 200
    finally:
        await server.stop()
    (line,) = [r for r in caplog.records if r.getMessage() == "HTTP"]
    fields = line.__dict__["fields"]
    assert (fields["auditID"], fields["user"], fields["status"]) == ("known", "admin", 200)
    assert "hidden-token" not in str(line.__dict__)
