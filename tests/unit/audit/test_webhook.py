"""The audit webhook."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec.structs import replace

from hydrofoil.audit import webhook
from hydrofoil.audit.event import TYPE
from hydrofoil.audit.metrics import Counts
from hydrofoil.audit.options import AuditOptions, Delivery
from hydrofoil.audit.webhook import WebhookBackend, parts
from hydrofoil.clock import Chance, Clock
from hydrofoil.outbound.target import Target
from hydrofoil.outbound.trust import Trust
from tests.unit.audit.receivers import Receiver, receiver

__all__ = ["receiver"]
BATCH = replace(Delivery.of(AuditOptions(), "webhook"), throttled=False, size=2)
BLOCKING = replace(BATCH, mode="blocking")
STRICT = replace(BATCH, mode="blocking-strict")


def line(number: int) -> bytes:
    return b'%s"auditID":"%d"}' % (TYPE, number)


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
