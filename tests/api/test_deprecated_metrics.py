"""Deprecated metrics of 1.36 and hidden ones (DEP-26 to DEP-29), and a shutdown that waits (HE-12)."""

from __future__ import annotations

import asyncio
import logging

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

HIDDEN = (
    "apiserver_request_slo_duration_seconds",
    "apiserver_storage_db_total_size_in_bytes",
    "apiserver_flowcontrol_request_concurrency_in_use",
    "kube_apiserver_pod_logs_pods_logs_backend_tls_failure_total",
)


async def test_a_stable_metric_stays_for_three_releases(api: aiohttp.ClientSession) -> None:
    """DEP-26, DEP-27, DEP-28."""
    async with api.get("/metrics") as r:
        lines = (await r.text()).splitlines()
    assert (
        "# HELP apiserver_storage_objects [STABLE] (Deprecated since 1.34.0) [DEPRECATED, consider using "
        "apiserver_resource_objects instead] Number of stored objects at the time of last check split by kind. In case "
        "of a fetching error, the value will be -1."
    ) in lines
    assert 'apiserver_storage_objects{resource="namespaces"} 4' in lines
    assert any(line.startswith('apiserver_storage_objects{resource="clusterroles.rbac') for line in lines)
    assert not any(name in line for line in lines for name in HIDDEN)


async def test_hidden_metrics_come_back(caplog: pytest.LogCaptureFixture) -> None:
    """DEP-29."""
    with caplog.at_level(logging.WARNING):
        server = Server(Config(port=0, controllers="", show_hidden_metrics_for_version="1.35"))
        await server.start()
    assert [f"Hidden metrics ({n})" in r.getMessage() for n, r in zip(HIDDEN, caplog.records, strict=True)] == [
        True
    ] * 4
    async with aiohttp.ClientSession(server.url) as api:
        async with api.get("/api/v1/namespaces") as r:
            assert r.status == 200
        async with api.get("/metrics") as r:
            text = await r.text()
    for name in HIDDEN:
        assert f"# HELP {name} [ALPHA] (Deprecated since 1." in text
    assert 'apiserver_request_slo_duration_seconds_count{component="apiserver",group="",resource="namespaces"' in text
    await server.stop()


async def test_a_shutdown_waits_for_load_balancers() -> None:
    """HE-12: `/readyz` fails, `/livez` does not, requests are served, then the server ends."""
    server = Server(Config(port=0, controllers="", shutdown_delay_duration=3600.0))
    await server.start()
    ending = asyncio.create_task(server.stop())
    async with aiohttp.ClientSession(server.url) as api:
        while True:
            async with api.get("/readyz") as r:
                if r.status == 500:
                    assert "[-]shutdown failed: reason withheld" in await r.text()
                    break
        async with api.get("/livez") as r:
            assert r.status == 200
        async with api.get("/api/v1/namespaces") as r:
            assert r.status == 200
    ending.cancel()
    await asyncio.gather(ending, return_exceptions=True)
    server.config = server.config.replaced(shutdown_delay_duration=0.0)
    await server.stop()
