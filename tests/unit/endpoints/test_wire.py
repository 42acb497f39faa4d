"""The private names of aiohttp that the wire uses."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from hydrofoil.endpoints.connection import PRIVATES, REQUEST_PRIVATES
from tests.conftest import ROOT

PACKAGE = ROOT / "python" / "hydrofoil"
WRITES = frozenset({"writelines", "pause_reading", "resume_reading", "write_eof", "set_parser"})


@pytest.mark.parametrize("name", PRIVATES)
async def test_aiohttp_still_has(name: str) -> None:
    loop = asyncio.get_running_loop()
    connection = web.RequestHandler(web.Server(lambda _: None), loop=loop)  # type: ignore[arg-type,return-value]
    assert hasattr(connection, name), f"aiohttp's RequestHandler has no {name} any more"


@pytest.mark.parametrize("name", REQUEST_PRIVATES)
def test_requests_still_have(name: str) -> None:
    assert hasattr(make_mocked_request("GET", "/"), name), f"aiohttp's requests have no {name} any more"


def touches(file: Path) -> list[str]:
    """Where a file writes to a connection or uses what is not its own."""
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.Attribute):
            continue
        of = ast.unparse(node.value)
        private = node.attr.startswith("_") and not node.attr.startswith("__") and of.endswith(("request", "protocol"))
        if private or node.attr in WRITES or (node.attr in ("transport", "protocol") and of.endswith("request")):
            found.append(f"{file.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}")
    return found


TOUCHING = {
    "wire.py": "writes answers",
    "line.py": "is one answer on a connection",
    "connection.py": "reads requests",
    "plain_connection.py": "reads them by public names",
    "tls.py": "is the transport of connections over TLS",
}
"""The modules of endpoints that touch connections, and why."""
GATEWAY = PACKAGE / "cli" / "ui" / "gateway.py"
"""It is a server of its own, for a page, and answers by aiohttp's public names."""


def test_only_the_wire_touches_connections() -> None:
    files = [f for f in PACKAGE.rglob("*.py") if f.parent != PACKAGE / "endpoints" or f.name not in TOUCHING]
    found = [line for f in files if f != GATEWAY for line in touches(f)]
    assert found == []
