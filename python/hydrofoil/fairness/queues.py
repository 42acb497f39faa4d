"""The queues of one priority level (apiserver `pkg/util/flowcontrol/fairqueuing/queueset`).

Each queue gets the same share of the level. Progress is measured in virtual time, in seat-seconds: a queue's next
request begins where its former ones end, and the one that ends first is served. Unlike upstream's, this time is that of
the request served last (start-time fair queueing): seats are seldom short here, but the time of the loop is.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from hydrofoil import engine
from hydrofoil.clock import Clock, stopwatch
from hydrofoil.fairness.demand import Ratios
from hydrofoil.fairness.flow import GUESS, Flow, Work
from hydrofoil.request import Incoming

REJECTED_LIMIT, REJECTED_FULL, REJECTED_LATE = "concurrency-limit", "queue-full", "time-out"
"""The reasons of refusals in metrics."""


class Ticket:
    """One request of a level: waiting, or on its seats."""

    __slots__ = ("arrived", "flow", "granted", "queue", "queues", "request", "started", "work")

    def __init__(self, queues: Queues, flow: Flow, work: Work, queue: Queue | None = None) -> None:
        self.queues = queues
        self.flow = flow
        self.work = work
        self.queue = queue
        self.granted: asyncio.Future[None] | None = None
        """Done when its turn has come, or its wait has ended."""
        self.arrived = self.started = 0.0
        self.request: Incoming | None = None
        """The request itself, for the pages that list them."""

    @property
    def executing(self) -> bool:
        """Report whether the request has its seats."""
        return self.started > 0.0

    def end(self, _: object = None) -> None:
        """Give the seats back, at once or when watchers have their events."""
        self.queues.finish(self)


class Queue:
    """Requests that wait for their turn, first in, first out."""

    __slots__ = ("executing", "next", "seats", "waiting", "work")

    def __init__(self) -> None:
        self.waiting: deque[Ticket] = deque()
        self.executing = self.seats = 0
        """The number of requests of this queue that run, and the seats in use by them."""
        self.next = 0.0
        """The virtual time at which the next request begins."""
        self.work = 0.0
        """The work of the waiting requests, in seat-seconds."""

    @property
    def active(self) -> bool:
        """Report whether any request is waiting or running."""
        return bool(self.waiting) or self.executing > 0


class Queues:
    """Seats and queues of a level. It runs on the loop: nothing in it waits."""

    def __init__(self, clock: Clock, *, exempt: bool = False) -> None:
        self._clock = clock
        self.exempt = exempt
        """Whether the level has no limit."""
        self.limit = 0
        """The seats that may be in use."""
        self.length = 0
        self.queues: list[Queue] = []
        self.seats = engine.Seats(stopwatch())
        self.ratios = Ratios(self.seats)
        self.waiting = 0
        self.rejected = self.late = 0
        self.running: dict[Ticket, None] = {}
        self.passing: dict[Incoming, tuple[Flow, float]] = {}
        """Requests of a level without a limit, their flow and their start."""
        self.admits: Callable[[], bool] = always
        """Report whether the loop has time for another waiting request."""
        self.backlog: dict[Queue, None] = {}
        """Queues with waiting requests, in the order in which they are looked at."""
        self.now = 0.0
        """The virtual time: where the request served last began."""
        self._deals = 0

    def configure(self, limit: int, count: int, length: int) -> None:
        """Set the seats, the number of queues, and their length."""
        self.limit, self.length = limit, length
        while len(self.queues) < count:
            self.queues.append(Queue())
        while len(self.queues) > count and not self.queues[-1].active:
            self.queues.pop()
        self.dispatch()

    @property
    def idle(self) -> bool:
        """Report whether no request is waiting or running."""
        return not self.waiting and not self.seats.executing

    def start(self, flow: Flow, work: Work, *, busy: bool = False) -> Ticket | None:
        """Return the ticket of a request: on its seats, or waiting if `granted` is set; None if it is refused.

        `busy`: it waits for its turn even where seats are free.
        """
        if self.exempt or not self.queues:
            if not self._fits(work.most):
                self.rejected += 1
                flow.counts.reject(REJECTED_LIMIT)
                return None
            ticket = Ticket(self, flow, work)
            self._run(ticket)
            return ticket
        queue = self._choose(flow)
        if len(queue.waiting) >= self.length and (busy or self.seats.used >= self.limit):
            self.rejected += 1
            flow.counts.reject(REJECTED_FULL)
            return None
        # An idle queue gathers no share for later.
        queue.next = max(queue.next, self.now)
        ticket = Ticket(self, flow, work, queue)
        if not self.waiting and not busy and self._fits(work.most):
            self._run(ticket)
            return ticket
        self._wait(ticket, queue)
        self.dispatch()
        return ticket

    def enter(self, request: Incoming, flow: Flow) -> None:
        """Count a request of a level without a limit: it takes no ticket, since most requests are of this kind."""
        counts = flow.counts
        counts.dispatched += 1
        counts.executing += 1
        self.seats.enter()
        self.passing[request] = flow, stopwatch()

    def leave(self, request: Incoming) -> None:
        """End such a request."""
        flow, started = self.passing.pop(request)
        counts = flow.counts
        counts.executing -= 1
        self.seats.leave()
        counts.regular.observe(stopwatch() - started)

    def _choose(self, flow: Flow) -> Queue:
        """Return the queue of a flow's hand with the least waiting work; each time another one is looked at first."""
        cards = flow.hand
        size = len(cards)
        self._deals += 1
        best = self.queues[cards[self._deals % size]]
        if self.waiting:
            for at in range(1, size):
                queue = self.queues[cards[(self._deals + at) % size]]
                if queue.work < best.work:
                    best = queue
        return best

    def _wait(self, ticket: Ticket, queue: Queue) -> None:
        ticket.granted = asyncio.get_running_loop().create_future()
        ticket.arrived = stopwatch()
        queue.waiting.append(ticket)
        queue.work += ticket.work.total
        self.backlog[queue] = None
        self.waiting += 1
        self.seats.want(ticket.work.most, ticket.arrived)
        ticket.flow.counts.waiting += 1
        ticket.flow.counts.waiting_seats += ticket.work.most
        ticket.flow.counts.lengths.observe(len(queue.waiting))

    def _leave(self, ticket: Ticket, queue: Queue) -> None:
        """Take a request out of its queue."""
        queue.work -= ticket.work.total
        self.waiting -= 1
        self.seats.want(-ticket.work.most, stopwatch())
        ticket.flow.counts.waiting -= 1
        ticket.flow.counts.waiting_seats -= ticket.work.most
        if not queue.waiting:
            queue.work = 0.0
            del self.backlog[queue]

    def _run(self, ticket: Ticket) -> None:
        queue, counts, work = ticket.queue, ticket.flow.counts, ticket.work
        seats = work.most
        now = ticket.started = stopwatch()
        self.seats.run(seats, now)
        self.running[ticket] = None
        counts.executing += 1
        counts.dispatched += 1
        counts.seats += seats
        if queue is not None:
            queue.executing += 1
            queue.seats += seats
            if ticket.granted is None:
                counts.at_once += 1
            self.now = max(self.now, queue.next)
            queue.next += work.total

    def _fits(self, seats: int) -> bool:
        """Report whether seats are free; a request that needs more than there are runs alone."""
        if self.exempt:
            return True
        if seats > self.limit:
            return not self.seats.executing
        return self.seats.used + seats <= self.limit

    def dispatch(self) -> None:
        """Run waiting requests while seats are free and the loop has time: the queue that ends first is next."""
        while self.backlog and self.seats.used < self.limit:
            best, least = None, 0.0
            for queue in self.backlog:
                end = queue.next + queue.waiting[0].work.total
                if best is None or end < least:
                    best, least = queue, end
            assert best is not None, "there is a backlog"
            ticket = best.waiting[0]
            if not self._fits(ticket.work.most):
                ticket.flow.counts.unfit += 1
                return
            if not self.admits():
                return
            best.waiting.popleft()
            # The others are looked at first where several end at the same time.
            del self.backlog[best]
            self.backlog[best] = None
            self._leave(ticket, best)
            self._run(ticket)
            granted = ticket.granted
            assert granted is not None, "it was waiting"
            if not granted.done():
                granted.set_result(None)

    def expire(self, ticket: Ticket) -> None:
        """End the wait of a request: it is refused, or its client has disconnected."""
        queue = ticket.queue
        if ticket.executing or queue is None:
            return
        queue.waiting.remove(ticket)
        self._leave(ticket, queue)
        self.rejected += 1
        self.late += 1
        ticket.flow.counts.reject(REJECTED_LATE)
        if ticket.granted is not None and not ticket.granted.done():
            ticket.granted.set_result(None)

    def finish(self, ticket: Ticket) -> None:
        """End a request, and run others."""
        if ticket not in self.running:
            return
        del self.running[ticket]
        now = stopwatch()
        took = now - ticket.started
        counts, queue, work = ticket.flow.counts, ticket.queue, ticket.work
        self.seats.leave()
        counts.executing -= 1
        counts.regular.observe(took)
        if queue is not None:
            queue.executing -= 1
            # The share was charged with a guess.
            queue.next -= work.first * (GUESS - took)
            if work.extra > 0.0:
                self._clock.later(work.extra, lambda: self._late(ticket))
                return
        self._release(ticket, now)
        if self.backlog:
            self.dispatch()

    def _late(self, ticket: Ticket) -> None:
        """Give seats back when watchers have their events."""
        self._release(ticket, stopwatch())
        self.dispatch()

    def _release(self, ticket: Ticket, now: float) -> None:
        seats = ticket.work.most
        self.seats.release(seats, now)
        ticket.flow.counts.seats -= seats
        if ticket.queue is not None:
            ticket.queue.seats -= seats


def always() -> bool:
    """Admit every request."""
    return True
