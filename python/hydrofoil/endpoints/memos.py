"""Memos: what the chain decided about a request for an object, for requests that differ in the object's name only.

A client that reads one object after the other sends the same header lines, and its requests pass the same decisions.
Each filter says what a later request may rest on, in the draft of a memo, or drops it. A request with a memo is
answered by one native call (`rust/py/src/memo.rs`), which takes its seats, counts it and looks at the clock; all else
that such a decision rests on ends every memo when it changes (`forget`). `--request-memos=false` leaves each to the
chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hydrofoil import engine
from hydrofoil.answer import Answer
from hydrofoil.clock import Chance, Clock
from hydrofoil.counting import Histogram
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, MemoDraft
from hydrofoil.headers import CONNECTION
from hydrofoil.watch.follow import Followed

LINE = b"HTTP/1.1 200 OK\r\n"
MOST_IDENTITIES = 1 << 16
"""The number of different certificates whose requests have memos."""
NOBODY: tuple[bytes, ...] = ()


class AnswerCounts(NamedTuple):
    """What counts the answers to requests of one kind."""

    add: Callable[[int], None]
    """Count so many answers with the code 200."""
    seconds: Histogram
    """The durations."""
    sizes: Histogram
    """The sizes of bodies, in bytes."""


class Memos:
    """The memos of one server."""

    def __init__(self, clock: Clock, chance: Chance, counts: Callable[[Context], AnswerCounts]) -> None:
        """Begin without any; `counts` returns what counts the answers to requests like one."""
        ids = engine.AuditIds(chance.uid()[:24])
        self.take_id = ids.take
        """Return the id of a request that came without one."""
        self._native = engine.Memos(clock.native, ids)
        self.answer: Callable[[int, bytes], bytes | None] = self._native.answer
        """Return the answer to a whole request of a client; empty if it has a memo, and the chain answers it still."""
        self._answer_counts = counts
        self._counts: dict[engine.Memo, tuple[Callable[[int], None], ...]] = {}
        """What counts the requests that a memo answered."""
        self._identities: dict[Sequence[bytes], int] = {NOBODY: 1}
        """The numbers of certificates, compared whole: a memo is for connections of one client."""
        self._followed: Sequence[Followed[Any]] = ()
        self._open = False

    def open(self, followed: Sequence[Followed[Any]]) -> None:
        """Begin to keep memos; they end when one of the states changes, before it is asked."""
        self._followed = followed
        for one in followed:
            one.on_take(self._rest)
        self._rest()
        self._open = True

    def _rest(self) -> None:
        """Rest on the states as they are now: their watchers may be others."""
        self.forget()
        self._native.rest_on(tuple(one.watcher for one in self._followed))

    def forget(self) -> None:
        """End all memos: something that they rest on has changed."""
        for memo in self._native.clear():
            self._count(memo, self._counts.pop(memo, ()))

    def fold(self) -> None:
        """Count all requests that memos have answered where the chain counts them."""
        for memo, counts in self._counts.items():
            self._count(memo, counts)

    def identify(self, certificates: Sequence[bytes]) -> int:
        """Return the number of a client by the certificates that it presented; 0: its requests have no memos."""
        number = self._identities.get(certificates)
        if number is None and self._open and len(self._identities) < MOST_IDENTITIES:
            number = self._identities[certificates] = len(self._identities) + 1
        return number or 0

    def begin(self, identity: int, data: bytes) -> MemoDraft | None:
        """Begin the memo of a whole request; None if it is of a kind that has none."""
        return MemoDraft(identity, data, self._native.generation) if self._open and data.startswith(b"GET ") else None

    def keep(self, context: Context, draft: MemoDraft, answer: Answer) -> None:
        """Keep the memo of a request for an object that was answered, if nothing else was decided about it."""
        collection, flow, queues, holds = draft.collection, draft.flow, draft.queues, draft.holds
        if collection is None or flow is None or queues is None or holds is None or not draft.authorized:
            return
        plain = answer.status == 200 and answer.stream is None and not answer.sized and not answer.close
        if not plain or CONNECTION in context.request.headers:
            return
        counted = self._answer_counts(context)
        memo = engine.Memo(
            collection.shard,
            context.resource.native,
            context.info.namespace,
            respond.form(context),
            LINE + answer.head,
            context.audit_id,
            holds,
            queues,
            flow,
            counted.seconds,
            counted.sizes,
        )
        self._counts[memo] = (counted.add, *draft.counts)
        for dropped in self._native.keep(draft.identity, draft.data, memo, draft.generation):
            self._count(dropped, self._counts.pop(dropped, ()))

    @staticmethod
    def _count(memo: engine.Memo, counts: Sequence[Callable[[int], None]]) -> None:
        if answers := memo.take_answers():
            for count in counts:
                count(answers)


class Folding:
    """The counts of memos among the metrics: it has none of its own, and brings those of others up to date."""

    def __init__(self, memos: Memos) -> None:
        self._memos = memos

    def collect(self) -> Sequence[Any]:
        """Return no family."""
        self._memos.fold()
        return ()

    def describe(self) -> Sequence[Any]:
        """Return no family."""
        return ()


def describe(context: Context, draft: MemoDraft) -> None:
    """Add to a memo which objects its requests read, if the answer depends on the object alone."""
    params = context.params
    # The view of a server whose log is in the process is never behind.
    present = not params or (len(params) == 1 and params.get("resourceVersion") in ("", "0"))
    resource = context.resource
    if (
        present
        and not context.warnings
        and not resource.deprecation
        and resource.webhook is None
        and not context.accepted.yaml
        and not respond.pretty(context)
    ):
        draft.collection = context.collection
