"""Records that wait for their batch."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from hydrofoil.audit.batches import MOST_BYTES, Batches
from hydrofoil.audit.options import AuditOptions, Delivery
from hydrofoil.clock import Clock

BATCH = replace(Delivery.of(AuditOptions(), "webhook"), throttled=False, size=3, wait=60.0, buffer=10)


class Taken:
    """A receiver of batches, unless it is closed."""

    def __init__(self) -> None:
        self.batches: list[list[bytes]] = []
        self.open = True
        self.came = asyncio.Event()

    def __call__(self, batch: list[bytes]) -> bool:
        if self.open:
            self.batches.append(batch)
            self.came.set()
        return self.open


async def test_a_full_batch_is_sent_at_once() -> None:
    taken = Taken()
    batches = Batches(BATCH, Clock(), taken)
    for number in range(7):
        assert batches.put(b"%d" % number)
    assert taken.batches == [[b"0", b"1", b"2"], [b"3", b"4", b"5"]]
    assert batches.rest() == [b"6"] and batches.rest() == []


async def test_the_rest_is_sent_after_a_while() -> None:
    taken = Taken()
    batches = Batches(replace(BATCH, wait=0.01), Clock(), taken)
    for line in (b"a", b"b"):
        batches.put(line)
        await taken.came.wait()
        taken.came.clear()
    assert taken.batches == [[b"a"], [b"b"]]


async def test_what_cannot_be_taken_waits_and_the_queue_is_bounded() -> None:
    taken = Taken()
    taken.open = False
    batches = Batches(BATCH, Clock(), taken)
    assert [batches.put(b"x") for _ in range(12)] == [True] * 10 + [False] * 2
    taken.open = True
    batches.resume()
    assert [len(b) for b in taken.batches] == [3, 3, 3]
    assert not batches.put(b"x" * (MOST_BYTES + 1))
    batches.rest()


async def test_a_throttle_limits_the_rate() -> None:
    taken = Taken()
    batches = Batches(replace(BATCH, size=1, throttled=True, rate=50.0, burst=2), Clock(), taken)
    for _ in range(4):
        batches.put(b"x")
    assert len(taken.batches) == 2
    while len(taken.batches) < 4:
        taken.came.clear()
        await taken.came.wait()
    assert batches.rest() == []
