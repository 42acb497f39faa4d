"""`--feature-gates` reaches the rules of fields: what a gate guards is dropped or refused where it is off."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.calls import post

PODS = "/api/v1/namespaces/default/pods"


@asynccontextmanager
async def serving(gates: dict[str, bool], version: str = "") -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server with these gates."""
    emulated, off = Texts((version,) if version else ()), Texts(("ServiceAccount",))
    config = Config(
        port=0, controllers="", feature_gates=gates, emulated_version=emulated, disable_admission_plugins=off
    )
    server = Server(config)
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as session:
        yield session
    await server.stop()


def pod(**spec: Any) -> dict[str, Any]:
    """Return a pod with one container."""
    return {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]} | spec}


@pytest.mark.parametrize(
    ("gate", "default", "member", "value"),
    [
        ("HostnameOverride", True, "hostnameOverride", "other"),
        ("PodLevelResources", True, "resources", {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}),
        ("GenericWorkload", False, "schedulingGroup", {"podGroupName": "g"}),
    ],
)
async def test_a_gate_keeps_or_drops_its_field(gate: str, default: bool, member: str, value: Any) -> None:
    """`dropDisabledFields` (`pkg/api/pod/util.go`)."""
    off = {"InPlacePodLevelResourcesVerticalScaling": False} if gate == "PodLevelResources" else {}
    for on in (None, True, False):
        gates = {} if on is None else {gate: on} | ({} if on else off)
        async with serving(gates) as api:
            spec = (await post(api, PODS, pod(**{member: value})))["spec"]
            assert spec.get(member) == (value if (default if on is None else on) else None)


async def test_a_gate_allows_or_refuses_a_value() -> None:
    """`validateOnlyAddedTolerations` and `ValidateTolerations` (`pkg/apis/core/validation`)."""
    compares = pod(tolerations=[{"key": "k", "operator": "Lt", "value": "3", "effect": "NoSchedule"}])
    async with serving({"TaintTolerationComparisonOperators": True}) as api:
        await post(api, PODS, compares)
    async with serving({}) as api:
        refused = await post(api, PODS, compares, 422)
        assert refused["details"]["causes"][0]["field"] == "spec.tolerations[0].operator"


async def test_an_emulated_version_has_the_gates_of_that_version() -> None:
    """A node declares features from 1.36 on, or where the flag says so."""
    node = {"metadata": {"name": "n"}, "status": {"declaredFeatures": ["Some"]}}
    for version, gates, kept in (("", {}, True), ("1.35", {}, False), ("1.35", {"NodeDeclaredFeatures": True}, True)):
        async with serving(gates, version) as api:
            made = await post(api, "/api/v1/nodes", node)
            assert ("declaredFeatures" in made.get("status", {})) is kept
