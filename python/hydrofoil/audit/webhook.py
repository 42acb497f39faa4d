"""The audit webhook: records are sent in batches, and failed calls repeated (`plugin/pkg/audit/webhook`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence

from hydrofoil.audit.batches import MOST_BYTES, Batches
from hydrofoil.audit.event import TYPE
from hydrofoil.audit.log import QUIET_SECONDS, refuse_record
from hydrofoil.audit.metrics import Counts
from hydrofoil.audit.options import Delivery
from hydrofoil.clock import Chance, Clock
from hydrofoil.outbound.target import Target
from hydrofoil.outbound.trust import Unreachable

LOG = logging.getLogger("hydrofoil")
SECONDS = 30.0
"""The time limit of a call."""
BOUND = 1 << 16
"""The greatest size of an answer, in bytes: nothing in it is read."""
ATTEMPTS = 5
"""Calls with the same batch, at most (`DefaultRetryBackoffWithInitialDelay`)."""
FACTOR, JITTER = 1.5, 0.2
MOST_CALLS = 25
"""Batches under way at the same time. Upstream has no bound: a dead webhook costs it memory."""
MOST_SINGLE = 1000
"""Records under way at the same time outside batch mode."""
LEAVE_SECONDS = 2.0
"""The time that the last records have to be sent at the end."""
HEAD = b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":['


class WebhookBackend:
    """Send records to a server. A dead or slow one keeps no request: records are lost and counted then."""

    def __init__(
        self, delivery: Delivery, target: Target, backoff: float, clock: Clock, chance: Chance, counts: Counts
    ) -> None:
        """`backoff`: seconds before the first failed call is repeated."""
        target.url += f"{'&' if '?' in target.url else '?'}timeout={SECONDS:.0f}s"
        self._delivery = delivery
        self._target = target
        self._backoff = backoff
        self._clock = clock
        self._chance = chance
        self._counts = counts
        self._calls: set[asyncio.Task[None]] = set()
        self._under_way = 0
        self._bytes = 0
        self._failing = False
        self._closing = asyncio.Event()
        self._quiet_until = 0.0
        self._batches = Batches(delivery, clock, self._batch) if delivery.mode == "batch" else None

    @property
    def blocks(self) -> bool:
        """Report whether answers wait for their records: not while the webhook fails."""
        return self._batches is None and not self._failing

    def take(self, line: bytes, *, waits: bool = False) -> asyncio.Future[bool] | None:
        """Take a record; outside batch mode with `waits`, return whether the first attempt to send it succeeded."""
        if self._batches is not None:
            if not self._batches.put(line):
                self._lost("buffered", 1, "audit buffer queue blocked")
            return None
        if self._under_way >= MOST_SINGLE or self._bytes + len(line) > MOST_BYTES:
            self._lost("webhook", 1, "the webhook does not keep up")
            return refuse_record() if waits else None
        sent: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._start([line], sent)
        return sent if waits else None

    def _batch(self, batch: list[bytes]) -> bool:
        if self._under_way >= MOST_CALLS or self._bytes > MOST_BYTES:
            return False
        self._start(batch, None)
        return True

    def _start(self, batch: list[bytes], sent: asyncio.Future[bool] | None) -> None:
        size = sum(map(len, batch))
        self._under_way += 1
        self._bytes += size
        call = asyncio.get_running_loop().create_task(self._send(batch, size, sent), name="audit webhook")
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _send(self, batch: list[bytes], size: int, sent: asyncio.Future[bool] | None) -> None:
        """Send records, again after failures, until they are sent or lost."""
        try:
            for part in parts(batch, self._delivery.batch_bytes if self._delivery.truncates else 0):
                await self._deliver(part, sent)
        finally:
            self._under_way -= 1
            self._bytes -= size
            if self._batches is not None:
                self._batches.resume()

    async def _deliver(self, part: Sequence[bytes], sent: asyncio.Future[bool] | None) -> None:
        body = b"%s{%s]}" % (HEAD, b",{".join([line[len(TYPE) :] for line in part]))
        strict = self._delivery.mode == "blocking-strict" and sent is not None
        wait = self._backoff
        for attempt in range(ATTEMPTS):
            why = await self._post(body)
            self._failing = bool(why)
            if sent is not None and not sent.done():
                sent.set_result(not why)
            if not why:
                return
            if self._closing.is_set() or strict or attempt == ATTEMPTS - 1:
                break
            await self._clock.machine.wait(self._closing, wait * (1.0 + self._chance.between(0.0, JITTER)))
            wait *= FACTOR
        self._lost("webhook", len(part), why)

    async def _post(self, body: bytes) -> str:
        """Send once; return the reason of a failure."""
        try:
            reply = await self._target.post(body, SECONDS, BOUND)
        except Unreachable as e:
            return str(e)
        return "" if 200 <= reply.status < 300 else f"the server answered {reply.status}"

    def _lost(self, plugin: str, count: int, why: str) -> None:
        self._counts.lose(plugin, count)
        if (now := self._clock.seconds()) >= self._quiet_until:
            self._quiet_until = now + QUIET_SECONDS
            LOG.error("Error in audit plugin '%s' affecting %d audit events: %s", plugin, count, why)

    async def close(self) -> None:
        """Send what waits, each record once more, as far as the webhook takes it soon."""
        self._closing.set()
        if self._batches is not None:
            rest, size = self._batches.rest(), self._delivery.size
            self._batches = None
            for at in range(0, len(rest), size):
                self._start(rest[at : at + size], None)
        if self._calls:
            done = asyncio.Event()
            every = asyncio.gather(*self._calls, return_exceptions=True)
            every.add_done_callback(lambda _: done.set())
            if not await self._clock.machine.wait(done, LEAVE_SECONDS):
                every.cancel()
                await asyncio.gather(every, return_exceptions=True)
        await self._target.close()


def parts(batch: Sequence[bytes], most: int) -> Iterator[Sequence[bytes]]:
    """Yield a batch in parts of at most `most` bytes; whole if that is 0."""
    if not most:
        yield batch
        return
    part: list[bytes] = []
    size = 0
    for line in batch:
        if part and size + len(line) > most:
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield part
