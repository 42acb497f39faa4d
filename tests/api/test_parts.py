"""A server is a list of parts: what each adds is there, and one that cannot start ends those before it."""

from __future__ import annotations

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.controllers import ControllerManager
from hydrofoil.server.run import Server, StartError

SHOWN = (
    "aggregator_discovery_aggregation_count",
    "apiserver_admission_controller_admission_duration_seconds",
    "apiserver_audit_event_total",
    "apiserver_current_inflight_requests",
    "apiserver_flowcontrol_current_inqueue_requests",
    "apiserver_resource_objects",
    "apiserver_storage_objects",
    "apiserver_tls_handshake_errors",
    "authentication_token_cache_active_fetch_count",
    "kubernetes_build_info",
    "running_managed_controllers",
    "serviceaccount_valid_tokens",
    'workqueue_depth{name="APIServiceRegistrationController"}',
    'workqueue_depth{name="crd_finalizer"}',
    'workqueue_depth{name="namespace"}',
    'workqueue_depth{name="priority_and_fairness_config_queue"}',
)
"""A family of each part, and a queue of each that has some."""


async def test_the_metrics_of_every_part_are_shown(server: Server, api: aiohttp.ClientSession) -> None:
    async with api.get("/metrics") as answer:
        text = await answer.text()
    assert [name for name in SHOWN if name not in text] == []


async def test_a_part_that_cannot_start_ends_all_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(Config(port=0))

    async def fail() -> None:
        raise ValueError("a disk is full")

    monkeypatch.setattr(ControllerManager, "start", lambda _: fail())
    with pytest.raises(StartError, match="a disk is full"):
        await server.start()
    async with aiohttp.ClientSession() as api:
        with pytest.raises(aiohttp.ClientConnectionError):
            await api.get(f"{server.url}/readyz")
