"""Memos: what the chain decided about a request for an object, for requests that differ in the object's name only, and
about a short list, for the same list.

A client that reads one object after the other sends the same header lines, and its requests pass the same decisions.
Each filter says what a later request may rest on, in the draft of a memo, or drops it. A request with a memo is
answered by one native call (`rust/py/src/memos.rs`), which takes its seats, counts it and looks at the clock; all else
that such a decision rests on ends every memo when it changes (`forget`). `--request-memos=false` leaves each to the
chain.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hydrofoil import engine
from hydrofoil.answer import Answer
from hydrofoil.clock import Chance, Clock
from hydrofoil.counting import Histogram
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, MemoDraft
from hydrofoil.endpoints.params import ListOptions
from hydrofoil.engine import Selector
from hydrofoil.headers import CONNECTION
from hydrofoil.watch.follow import Followed

LINE = b"HTTP/1.1 200 OK\r\n"
MOST_IDENTITIES = 4096
"""The number of certificates that are known: clients can make up any."""
PLAIN = 1
"""The number of all clients without a certificate."""
PRESENT = frozenset(("", "0"))
"""The versions of reads of the present state."""
READ = frozenset(("resourceVersion",))
"""The parameters of reads of an object that have memos."""
LISTED = frozenset(("limit", "resourceVersion", "labelSelector", "fieldSelector"))
"""The parameters of lists that have memos."""


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
        self._counts: dict[engine.Memo, Counts] = {}
        self._identities: dict[Sequence[bytes], int] = {}
        """The numbers of certificates, compared whole: a memo is for connections of one client."""
        self._numbers = itertools.count(PLAIN + 1)
        """Further numbers. None is given twice, since open connections keep theirs."""
        self._followed: Sequence[Followed[Any]] = ()
        self._open = False

    def open(self, followed: Sequence[Followed[Any]], catch_up: Callable[[], bool] | None = None) -> None:
        """Begin to keep memos; they end when one of the states changes, before it is asked.

        A memo answers what the view has. `catch_up` brings that up to the truth, and reports whether it is there; None
        where it always is.
        """
        if catch_up is not None:
            known = self._native.answer
            self.answer = lambda client, data: known(client, data) if catch_up() else None
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
            self._drop(memo)

    def fold(self) -> None:
        """Count all requests that memos have answered where the chain counts them."""
        for memo, counts in self._counts.items():
            counts.take(memo)

    def identify(self, certificates: Sequence[bytes]) -> int:
        """Return the number of a client by the certificates that it presented; 0: its requests have no memos."""
        if not self._open:
            return 0
        if not certificates:
            return PLAIN
        number = self._identities.get(certificates)
        if number is None:
            if len(self._identities) >= MOST_IDENTITIES:
                self._identities.clear()
            number = self._identities[certificates] = next(self._numbers)
        return number

    def begin(self, identity: int, data: bytes) -> MemoDraft | None:
        """Begin the memo of a whole request; None if it is of a kind that has none."""
        return MemoDraft(identity, data, self._native.generation) if self._open and data.startswith(b"GET ") else None

    def keep(self, context: Context, draft: MemoDraft, answer: Answer) -> None:
        """Keep the memo of a request that was answered, if nothing else was decided about it."""
        collection, seats, holds = draft.collection, draft.seats, draft.holds
        if collection is None or seats is None or holds is None or not draft.authorized:
            return
        plain = answer.status == 200 and answer.stream is None and not answer.sized and not answer.close
        if not plain or CONNECTION in context.request.headers:
            return
        counted, read = self._answer_counts(context), None
        if draft.list_of is not None:
            selector, limit, empty = draft.list_of
            read = selector, limit, draft.list_seats, empty
        memo = engine.Memo(
            (collection.shard, context.resource.native, context.info.namespace),
            respond.form(context),
            LINE + answer.head,
            context.audit_id,
            holds,
            seats,
            (counted.seconds, counted.sizes),
            read,
        )
        self._counts[memo] = Counts((counted.add, *draft.counts), draft.count_items)
        for dropped in self._native.keep(draft.identity, draft.data, memo, draft.generation):
            self._drop(dropped)

    def _drop(self, memo: engine.Memo) -> None:
        """Count for the last time what a memo has answered."""
        self._counts.pop(memo).take(memo)


class Counts(NamedTuple):
    """What counts the requests that a memo has answered, and the objects of its lists."""

    answers: Sequence[Callable[[int], None]]
    items: Callable[[int, int], None] | None

    def take(self, memo: engine.Memo) -> None:
        """Count what the memo has answered since the last call."""
        if answers := memo.take_answers():
            for count in self.answers:
                count(answers)
            if self.items is not None:
                self.items(*memo.take_items())


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
    present = params.keys() <= READ and params.get("resourceVersion", "") in PRESENT
    if present and depends_on_objects(context):
        draft.collection = context.collection


def describe_list(context: Context, draft: MemoDraft, options: ListOptions, read: tuple[Selector, int, bool]) -> None:
    """Add to a memo which list its requests read, if the answer depends on the objects alone.

    `read` is the selection, the limit in force, and whether a list without items is written like any other.
    """
    collection = context.collection
    # One that some object prevents is refused, and an order of rows takes all of them.
    whole = not collection.is_guarded and context.params.keys() <= LISTED and options.revision in (None, 0)
    if not whole or options.token or context.accepted.cbor or not depends_on_objects(context):
        return
    draft.collection, draft.list_of = collection, read
    uses = collection.uses
    draft.counts.append(uses.count_lists if options.revision == 0 else uses.count_consistent_lists)
    draft.count_items = uses.count_items


def depends_on_objects(context: Context) -> bool:
    """Report whether an answer is made of objects as they are encoded, and nothing else."""
    resource = context.resource
    return not (
        context.warnings
        or resource.deprecation
        or resource.webhook is not None
        or context.accepted.yaml
        or respond.pretty(context)
    )
