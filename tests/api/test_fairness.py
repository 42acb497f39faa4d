"""Tenants beside each other, and the limits of priority levels."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hydrofoil.endpoints.handlers import get as get_handler
from tests.api.rights import Guarded, guarded

MAP = "/api/v1/namespaces/default/configmaps/none"
FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1"
FLOOD = 80
"""Connections of a tenant that floods the server."""


@asynccontextmanager
async def server(folder: Path, **flags: Any) -> AsyncIterator[Guarded]:
    from hydrofoil.options import Texts

    async with guarded(folder, authorization_mode=Texts(("AlwaysAllow",)), **flags) as made:
        yield made


def asked(user: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {user}-token"}


async def test_a_flood_leaves_another_tenant_its_turn(tmp_path: Path) -> None:
    """Attack: a tenant sends on many connections at once; another one waits for few of them."""
    async with server(tmp_path) as made:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(made.server.url, connector=connector) as session:
            answered = 0
            over = False

            async def flood() -> None:
                nonlocal answered
                while not over:
                    async with session.get(MAP, headers=asked("ada")) as r:
                        await r.read()
                        assert r.status in (404, 429)
                        answered += 1

            floods = [asyncio.create_task(flood()) for _ in range(FLOOD)]
            while answered < 2 * FLOOD:
                await asyncio.sleep(0)
            waited = []
            for _ in range(20):
                before = answered
                async with session.get(MAP, headers=asked("bob")) as r:
                    assert r.status == 404
                waited.append(answered - before)
            over = True
            await asyncio.gather(*floods)
    # Without a turn of its own it would wait for each connection of the flood.
    assert sorted(waited)[len(waited) // 2] < FLOOD / 3, waited


async def test_answers_name_their_schema_and_level(tmp_path: Path) -> None:
    async with server(tmp_path) as made:
        seen = []
        for user in ("admin", "ada"):
            async with aiohttp.ClientSession(made.server.url, headers=asked(user)) as session, session.get(MAP) as r:
                seen.append(
                    (r.headers["X-Kubernetes-PF-FlowSchema-UID"], r.headers["X-Kubernetes-PF-PriorityLevel-UID"])
                )
        levels = await made.ask("admin", "GET", f"{FLOW}/prioritylevelconfigurations")
        names = {item["metadata"]["uid"]: item["metadata"]["name"] for item in levels[1]["items"]}
        assert [names[level] for _, level in seen] == ["exempt", "global-default"]
    async with (
        server(tmp_path, enable_priority_and_fairness=False) as made,
        aiohttp.ClientSession(made.server.url, headers=asked("admin")) as session,
        session.get(MAP) as r,
    ):
        assert "X-Kubernetes-PF-FlowSchema-UID" not in r.headers


async def test_a_level_without_seats_refuses_and_one_with_queues_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests that hold their seats: those above the limit get 429 with the time to wait, or a turn later."""
    held, arrived = asyncio.Event(), asyncio.Event()
    real = get_handler.caught_up

    async def slow(context: Any) -> None:
        arrived.set()
        await held.wait()
        await real(context)

    async with server(tmp_path, max_requests_inflight=1, max_mutating_requests_inflight=0) as made:
        queue = {"type": "Queue", "queuing": {"queues": 1, "handSize": 1, "queueLengthLimit": 1}}
        for name, user, response in (("rejects", "ada", {"type": "Reject"}), ("queues", "bob", queue)):
            limited = {"nominalConcurrencyShares": 1, "borrowingLimitPercent": 0, "limitResponse": response}
            body = {"metadata": {"name": name}, "spec": {"type": "Limited", "limited": limited}}
            await made.make(f"{FLOW}/prioritylevelconfigurations", body)
            resources = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}
            rule = {"subjects": [{"kind": "User", "user": {"name": user}}], "resourceRules": [resources]}
            spec = {"priorityLevelConfiguration": {"name": name}, "matchingPrecedence": 2, "rules": [rule]}
            await made.make(f"{FLOW}/flowschemas", {"metadata": {"name": name}, "spec": spec})
        monkeypatch.setattr(get_handler, "caught_up", slow)
        for user, refused in (("ada", 1), ("bob", 2)):
            arrived.clear()
            held.clear()
            first = asyncio.create_task(made.ask(user, "GET", MAP))
            await arrived.wait()
            more = [asyncio.create_task(made.ask(user, "GET", MAP)) for _ in range(2)]
            done, _ = await asyncio.wait(more, return_when=asyncio.FIRST_COMPLETED)
            assert [task.result()[0] for task in done][:1] == [429]
            held.set()
            answers = sorted([(await task)[0] for task in (first, *more)])
            assert answers == ([404, 429, 429] if refused == 1 else [404, 404, 429])
        monkeypatch.undo()
        status, text = await made.ask("admin", "GET", "/metrics")
        assert status == 200
        assert (
            'rejected_requests_total{flow_schema="rejects",priority_level="rejects",reason="concurrency-limit"}' in text
        )
        assert 'rejected_requests_total{flow_schema="queues",priority_level="queues",reason="queue-full"} 1' in text
        # The first one need not wait, and the second one is alone in the queue; a level that rejects has none.
        lengths = "apiserver_flowcontrol_request_queue_length_after_enqueue"
        assert f'{lengths}_bucket{{flow_schema="queues",le="0",priority_level="queues"}} 0' in text
        assert f'{lengths}_count{{flow_schema="queues",priority_level="queues"}} 2' in text
        assert f'{lengths}_count{{flow_schema="rejects"' not in text


async def test_a_client_that_leaves_its_queue_frees_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, arrived = asyncio.Event(), asyncio.Event()

    async def slow(_: Any) -> None:
        arrived.set()
        await held.wait()

    async with server(tmp_path) as made:
        level = made.server.app.limits.fairness
        assert level is not None
        queues = level.levels["global-default"].queues
        monkeypatch.setattr(get_handler, "caught_up", slow)
        running = [asyncio.create_task(made.ask("ada", "GET", MAP)) for _ in range(queues.limit)]
        while queues.executing < queues.limit:
            await asyncio.sleep(0)
        waits = asyncio.create_task(made.ask("ada", "GET", MAP))
        while not queues.waiting:
            await asyncio.sleep(0)
        waits.cancel()
        while queues.waiting:
            await asyncio.sleep(0)
        held.set()
        await asyncio.gather(*running)
        while queues.executing:
            await asyncio.sleep(0)
        assert queues.seats == 0 and queues.backlog == 0


async def test_no_seats_at_all_refuse_the_start(tmp_path: Path) -> None:
    from hydrofoil.server.run import StartError

    with pytest.raises(StartError, match="MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up"):
        async with server(tmp_path, max_requests_inflight=0, max_mutating_requests_inflight=0):
            pass
