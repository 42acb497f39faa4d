"""The steps of a deletion, by kind and by options."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.kinds.batch import JobStrategy
from hydrofoil.registry.kinds.core import EventStrategy, NamespaceStrategy, OrphaningStrategy, PodStrategy
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategy import FOREGROUND, ORPHAN, Strategy
from tests.unit.parts import draft, opened, resource

PODS = resource("pods")


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    async with opened() as found:
        yield found


def pod(finalizers: list[str] | None = None, node: str = "", phase: str = "", **metadata: Any) -> Any:
    """A pod."""
    spec = {"nodeName": node} if node else {}
    body = {"metadata": {"name": "p", "finalizers": finalizers or [], **metadata}, "spec": spec}
    return draft(PODS, {**body, "status": {"phase": phase}})


@pytest.mark.parametrize(
    ("options", "kept", "wanted"),
    [
        (DeleteOptions(), ["x"], ["x"]),
        (DeleteOptions(), ["x", ORPHAN], ["x", ORPHAN]),
        (DeleteOptions(policy="Foreground"), ["x", ORPHAN], ["x", FOREGROUND]),
        (DeleteOptions(policy="Orphan"), [FOREGROUND], [ORPHAN]),
        (DeleteOptions(orphan=True), [], [ORPHAN]),
        (DeleteOptions(policy="Background"), [FOREGROUND, ORPHAN], []),
    ],
)
async def test_finalizers_that_a_policy_leaves(
    registry: Registry, options: DeleteOptions, kept: list[str], wanted: list[str]
) -> None:
    """DEL-05 to DEL-07."""
    assert Strategy(registry).policy_finalizers(kept, options) == wanted


async def test_kinds_that_leave_dependents_behind_or_have_none(registry: Registry) -> None:
    assert OrphaningStrategy(registry).policy_finalizers([], DeleteOptions()) == [ORPHAN]
    assert EventStrategy(registry).policy_finalizers([ORPHAN], DeleteOptions(policy="Foreground")) == []
    assert "child pods are preserved" in JobStrategy(registry).delete_warnings(DeleteOptions())[0]
    assert JobStrategy(registry).delete_warnings(DeleteOptions(policy="Background")) == []


async def test_a_deletion_waits_for_finalizers(registry: Registry) -> None:
    strategy = Strategy(registry)
    assert strategy.begin_delete(pod(), DeleteOptions()) == "remove"
    waiting = pod(["x"], generation=1)
    assert strategy.begin_delete(waiting, DeleteOptions()) == "mark"
    found = waiting.lifecycle()
    assert (found.generation, bool(found.deletion_timestamp), found.grace_period) == (2, True, 0)
    assert strategy.begin_delete(waiting, DeleteOptions()) == "wait"
    assert not strategy.gone(waiting)


@pytest.mark.parametrize(
    ("node", "phase", "grace", "wanted"),
    [
        ("", "", 30, 0),
        ("n", "Running", None, 30),
        ("n", "Running", 5, 5),
        ("n", "Running", -1, 1),
        ("n", "Failed", 9, 0),
    ],
)
async def test_pods_on_a_node_get_time(
    registry: Registry, node: str, phase: str, grace: int | None, wanted: int
) -> None:
    """DEL-09."""
    given = pod(node=node, phase=phase)
    assert PodStrategy(registry).grace_period(given, DeleteOptions(grace=grace)) == wanted


async def test_a_shorter_grace_replaces_a_longer_one(registry: Registry) -> None:
    strategy, given = PodStrategy(registry), pod(node="n", phase="Running")
    assert strategy.begin_delete(given, DeleteOptions(grace=30)) == "mark"
    assert strategy.begin_delete(given, DeleteOptions(grace=60)) == "wait"
    assert strategy.begin_delete(given, DeleteOptions(grace=5)) == "mark"
    assert given.lifecycle().grace_period == 5
    assert strategy.begin_delete(given, DeleteOptions(grace=0)) == "remove"


async def test_a_namespace_ends_when_its_content_has_gone(registry: Registry) -> None:
    strategy = NamespaceStrategy(registry)
    body = {"metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes"]}}
    given = draft(resource("namespaces"), body)
    assert strategy.begin_delete(given, DeleteOptions()) == "mark"
    assert given.get(["status", "phase"]) == b'"Terminating"'
    assert strategy.begin_delete(given, DeleteOptions()) == "wait"
    given.set(["spec", "finalizers"], b"[]")
    assert strategy.gone(given)
