"""Levels and schemas as objects, and their pages and metrics."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from hydrofoil.fairness import dump
from hydrofoil.fairness.metrics import FlowMetrics
from hydrofoil.fairness.service import Fairness
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.request import ADMIN, User, parse
from hydrofoil.watch.hub import Hub
from tests.unit.parts import draft, opened, resource

GROUP = "flowcontrol.apiserver.k8s.io"
ADA = User("ada", groups=("system:authenticated",))
PODS = parse("GET", "/api/v1/namespaces/n/pods/p")
EVERY = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
QUEUE = {"type": "Queue", "queuing": {"queues": 4, "handSize": 2, "queueLengthLimit": 5}}


async def level(registry: Registry, name: str, **limited: Any) -> None:
    of = resource("prioritylevelconfigurations", GROUP)
    body = {"metadata": {"name": name}, "spec": {"type": "Limited", "limited": {"limitResponse": QUEUE} | limited}}
    await registry.create(of, "", draft(of, body), Write())


async def schema(registry: Registry, name: str, level: str, user: str = "ada") -> None:
    of = resource("flowschemas", GROUP)
    rule = {"subjects": [{"kind": "User", "user": {"name": user}}], "resourceRules": [EVERY]}
    spec = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": 100, "rules": [rule]}
    body = {"metadata": {"name": name}, "spec": spec | {"distinguisherMethod": {"type": "ByUser"}}}
    await registry.create(of, "", draft(of, body), Write())


@pytest.fixture
async def parts() -> AsyncIterator[tuple[Registry, Fairness]]:
    async with opened() as registry:
        hub = Hub(registry.storage, registry.clock)
        fair = Fairness(registry, hub, registry.clock, 600)
        await fair.start()
        yield registry, fair
        await fair.close()
        hub.close()


def found(fair: Fairness, user: User) -> tuple[str, str]:
    level, flow = fair.classify(user, PODS)
    return level.config.name, flow.schema


async def test_two_levels_need_no_objects(parts: tuple[Registry, Fairness]) -> None:
    _, fair = parts
    assert found(fair, ADMIN) == ("exempt", "exempt") and found(fair, ADA) == ("catch-all", "catch-all")
    assert fair.levels["catch-all"].seats.nominal == 600


async def test_objects_decide_and_changes_take_effect(parts: tuple[Registry, Fairness]) -> None:
    registry, fair = parts
    assert found(fair, ADA)[0] == "catch-all"
    await schema(registry, "s", "l")
    fair.rebuild()
    assert found(fair, ADA)[0] == "catch-all", "the level does not exist yet"
    await level(registry, "l", nominalConcurrencyShares=15, lendablePercent=50)
    fair.rebuild()
    assert found(fair, ADA) == ("l", "s")
    made = fair.levels["l"]
    assert (made.seats.nominal, made.seats.least) == (450, 225) and len(made.queues.states()) == 4
    flow = fair.classify(ADA, PODS)[1]
    assert b"X-Kubernetes-PF-FlowSchema-UID: " in flow.lines
    ticket = made.queues.start(flow, fair.work(made, flow, PODS), None, "get")
    assert ticket is not None
    of = resource("prioritylevelconfigurations", GROUP)
    from hydrofoil.registry.delete_options import DeleteOptions

    await registry.delete(of, "", "l", DeleteOptions(), Write())
    fair.rebuild()
    assert found(fair, ADA)[0] == "catch-all" and made.leaving and "l" in fair.levels
    ticket.end()
    fair.rebuild()
    assert "l" not in fair.levels


async def test_idle_levels_lend_their_seats(parts: tuple[Registry, Fairness]) -> None:
    registry, fair = parts
    await level(registry, "busy", nominalConcurrencyShares=15)
    await level(registry, "idle", nominalConcurrencyShares=15, lendablePercent=100)
    await schema(registry, "s", "busy")
    fair.rebuild()
    busy, idle = fair.levels["busy"], fair.levels["idle"]
    flow = fair.classify(ADA, PODS)[1]
    tickets = []
    for _ in range(busy.current):
        tickets.append(busy.queues.start(flow, fair.work(busy, flow, PODS), None, "get"))
        # Those of one turn share its time, and the rest of them waits.
        await asyncio.sleep(0)
    fair.adjust()
    assert busy.current > busy.seats.nominal and idle.current < idle.seats.nominal
    assert fair.fraction > 0
    assert all(ticket is not None for ticket in tickets)


async def test_pages_and_metrics(parts: tuple[Registry, Fairness]) -> None:
    registry, fair = parts
    await level(registry, "l")
    await schema(registry, "s", "l", user="*")
    fair.rebuild()
    ill = User("x\x1b[2J\ny")
    at, flow = fair.classify(ill, PODS)

    class Request:
        info = PODS
        user = ill

    ticket = at.queues.start(flow, fair.work(at, flow, PODS), Request(), "get")
    assert ticket is not None
    fair.work(at, flow, parse("POST", "/api/v1/namespaces/n/pods"))
    levels, queues = dump.levels(fair), dump.queues(fair)
    assert levels.splitlines()[0].startswith("PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ")
    assert "\nl,                 0,            false,  false,       0,               1," in levels
    assert "\nl,                 3,      0," in queues
    for details in (False, True):
        lines = dump.requests(fair, details=details).split("\n")
        assert len(lines) == 3 and all(c.isprintable() for c in "".join(lines))
        assert lines[1].startswith("l,                 s,")
    collected = CollectorRegistry()
    metrics = FlowMetrics(fair)
    collected.register(metrics)
    text = generate_latest(collected).decode()
    labels = '{flow_schema="s",priority_level="l"}'
    assert f"apiserver_flowcontrol_current_executing_requests{labels} 1.0" in text
    assert f"apiserver_flowcontrol_dispatched_requests_total{labels} 1.0" in text
    watched = '{flow_schema="s",le="0",priority_level="l"}'
    assert f"apiserver_flowcontrol_watch_count_samples_bucket{watched} 1.0" in text
    assert [count() for count in metrics.executing] == [1, 0]
    ticket.end()
    assert [count() for count in metrics.executing] == [0, 0]
    text = generate_latest(collected).decode()
    ratio = 'utilization_count{phase="executing",priority_level="l"}'
    assert all(f"apiserver_flowcontrol_priority_level_{of}_{ratio}" in text for of in ("seat", "request"))
    assert 'read_vs_write_current_requests_count{phase="waiting",request_kind="mutating"}' in text
    assert 'request_execution_seconds_count{flow_schema="s",priority_level="l",type="regular"} 1.0' in text


async def test_malformed_objects_change_nothing(parts: tuple[Registry, Fairness]) -> None:
    _, fair = parts
    assert json.dumps(sorted(fair.levels)) == '["catch-all", "exempt"]'
    assert [s.name for s in fair.schemas] == ["exempt", "catch-all"]
