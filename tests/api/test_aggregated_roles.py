"""Aggregated ClusterRoles (kube-controller-manager `clusterroleaggregation_controller_test.go`)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.options import Texts
from tests.api.rights import RBAC, Guarded, guarded, rule

ROLES = f"{RBAC}/clusterroles"
PATCH = {"Content-Type": "application/merge-patch+json"}


async def reached(server: Guarded, name: str, rules: list[Any]) -> None:
    """Wait until a role has these rules."""
    async with asyncio.timeout(10):
        while ((await server.ask("admin", "GET", f"{ROLES}/{name}"))[1].get("rules") or []) != rules:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("mode", ["RBAC", "AlwaysDeny"])
async def test_the_rules_are_those_of_the_parts_by_name_each_once(tmp_path: Path, mode: str) -> None:
    """Selectors come in their order; a role is no part of itself; rights follow, and the user writes none of them."""
    pods, nodes, secrets = rule("get", "pods"), rule("get", "nodes"), rule("get", "secrets")
    async with guarded(tmp_path, controllers="clusterrole-aggregation", authorization_mode=Texts((mode,))) as server:

        async def part(name: str, *rules: Any, **labels: str) -> None:
            await server.make(ROLES, {"metadata": {"name": name, "labels": labels}, "rules": list(rules)})

        await part("b", pods, nodes, a="1")
        await part("a", nodes, a="1")
        await part("c", secrets, c="x")
        selectors = [
            {"matchLabels": {"a": "1"}},
            {"matchExpressions": [{"key": "c", "operator": "In", "values": ["x"]}]},
        ]
        body = {"metadata": {"name": "sum", "labels": {"a": "1"}}, "rules": [rule("*", "*")]}
        await server.make(ROLES, body | {"aggregationRule": {"clusterRoleSelectors": selectors}})
        await reached(server, "sum", [nodes, pods, secrets])
        await server.ask("admin", "PATCH", f"{ROLES}/c", {"metadata": {"labels": {"c": "y"}}}, PATCH)
        await reached(server, "sum", [nodes, pods])
        await server.ask("admin", "PATCH", f"{ROLES}/sum", {"rules": [secrets]}, PATCH)
        await reached(server, "sum", [nodes, pods])
        for name in ("a", "b"):
            assert (await server.ask("admin", "DELETE", f"{ROLES}/{name}"))[0] == 200
        await reached(server, "sum", [])
