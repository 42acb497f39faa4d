"""The audit webhook."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace

from hydrofoil.audit import webhook
from hydrofoil.audit.event import TYPE
from hydrofoil.audit.metrics import Counts
from hydrofoil.audit.options import AuditOptions, Delivery
from hydrofoil.audit.webhook import WebhookBackend, parts
from hydrofoil.clock import Chance, Clock
from hydrofoil.outbound.target import Target
from hydrofoil.outbound.trust import Trust

BATCH = replace(Delivery.of(AuditOptions(), "webhook"), throttled=False, size=2)
BLOCKING = replace(BATCH, mode="blocking")
STRICT = replace(BATCH, mode="blocking-strict")


def line(number: int) -> bytes:
    return b'%s"auditID":"%d"}' % (TYPE, number)


class Receiver:
    """A webhook that refuses the first calls."""

    def __init__(self) -> None:
        self.lists: list[Any] = []
        self.refusals = 0
        self.calls = 0
        self.held: asyncio.Event | None = None
        self.url = ""

    async def receive(self, request: web.BaseRequest) -> web.StreamResponse:
        self.calls += 1
        if self.held is not None:
            await self.held.wait()
        if self.calls <= self.refusals:
            return web.Response(status=500)
        assert str(request.rel_url) == "/audit?timeout=30s"
        self.lists.append(await request.json())
        return web.Response()

    @property
    def ids(self) -> list[str]:
        return [item["auditID"] for found in self.lists for item in found["items"]]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    made = Receiver()
    runner = web.ServerRunner(web.Server(made.receive))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"{site.name}/audit"
    yield made
    await runner.cleanup()


def backend(url: str, delivery: Delivery = BATCH, backoff: float = 0.001) -> tuple[WebhookBackend, Counts]:
    counts = Counts()
    target = Target(url, Trust(b"", False, b"", b""))
    return WebhookBackend(delivery, target, backoff, Clock(), Chance(1), counts), counts


async def test_records_are_sent_as_lists_of_events(receiver: Receiver) -> None:
    made, counts = backend(receiver.url)
    for number in range(5):
        assert made.take(line(number)) is None
    await made.close()
    assert sorted(receiver.ids) == list("01234") and counts.lost == {}
    first = receiver.lists[0]
    assert {k: v for k, v in first.items() if k != "items"} == {
        "kind": "EventList",
        "apiVersion": "audit.k8s.io/v1",
        "metadata": {},
    }
    assert all("kind" not in item for item in first["items"])


async def test_failed_calls_are_repeated(receiver: Receiver) -> None:
    receiver.refusals = 3
    made, counts = backend(receiver.url)
    made.take(line(1))
    made.take(line(2))
    await asyncio.gather(*made._calls)
    assert receiver.ids == ["1", "2"] and receiver.calls == 4 and counts.lost == {}
    await made.close()


async def test_a_dead_webhook_loses_records_and_counts_them(caplog: pytest.LogCaptureFixture) -> None:
    made, counts = backend("http://127.0.0.1:1/audit")
    made.take(line(1))
    made.take(line(2))
    await asyncio.gather(*made._calls)
    assert counts.lost == {"webhook": 2} and "auditID" not in caplog.text
    await made.close()


async def test_a_webhook_that_never_answers_keeps_little(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "MOST_CALLS", 2)
    monkeypatch.setattr(webhook, "LEAVE_SECONDS", 0.05)
    receiver.held = asyncio.Event()
    made, counts = backend(receiver.url, replace(BATCH, buffer=4))
    for number in range(20):
        made.take(line(number))
    assert counts.lost == {"buffered": 12}
    await made.close()
    receiver.held.set()


async def test_blocking_records_report_their_first_attempt(receiver: Receiver) -> None:
    receiver.refusals = 1
    made, counts = backend(receiver.url, BLOCKING)
    assert made.blocks
    first = made.take(line(1), waits=True)
    assert first is not None and not await first
    assert not made.blocks
    await asyncio.gather(*made._calls)
    assert receiver.ids == ["1"] and made.blocks and counts.lost == {}
    await made.close()


async def test_a_strict_record_is_tried_once(receiver: Receiver) -> None:
    receiver.refusals = 1
    made, counts = backend(receiver.url, STRICT)
    refused = made.take(line(1), waits=True)
    assert refused is not None and not await refused
    await asyncio.gather(*made._calls)
    assert counts.lost == {"webhook": 1} and receiver.calls == 1
    await made.close()


async def test_single_records_are_bounded(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "MOST_SINGLE", 2)
    receiver.held = asyncio.Event()
    made, counts = backend(receiver.url, BLOCKING)
    for number in range(3):
        made.take(line(number))
    refused = made.take(line(4), waits=True)
    assert refused is not None and not await refused and counts.lost == {"webhook": 2}
    receiver.held.set()
    await made.close()


def test_large_batches_are_split() -> None:
    assert list(parts([b"aa", b"bb", b"c"], 0)) == [[b"aa", b"bb", b"c"]]
    assert list(parts([b"aa", b"bb", b"c"], 3)) == [[b"aa"], [b"bb", b"c"]]
    assert json.loads(line(1)[len(TYPE) - 1 :].replace(b",", b"{", 1)) == {"auditID": "1"}
