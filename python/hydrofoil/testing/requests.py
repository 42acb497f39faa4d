"""The requests that a server has answered, in the hands of a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

from hydrofoil.controls.record import Record
from hydrofoil.controls.where import check_names, matches
from hydrofoil.testing.caller import Caller
from hydrofoil.testing.table import table_of

WRITES = frozenset(("create", "update", "patch", "delete", "deletecollection"))


class Requests(Sequence[Record]):
    """Requests in their order."""

    def __init__(self, records: Iterable[Record] = (), caller: Caller | None = None) -> None:
        """`caller` is the server that knows which resources there are."""
        self._held = tuple(records)
        self._caller = caller

    def _records(self) -> Sequence[Record]:
        return self._held

    def __len__(self) -> int:
        return len(self._records())

    @overload
    def __getitem__(self, at: int) -> Record: ...

    @overload
    def __getitem__(self, at: slice) -> Requests: ...

    def __getitem__(self, at: int | slice) -> Record | Requests:
        found = self._records()[at]
        return found if isinstance(found, Record) else Requests(found, self._caller)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records())

    def of(self, **where: Any) -> Requests:
        """Return the requests that are as wanted: `of(verb="list", resource="pods", params={"limit": None})`.

        Texts may be patterns. Raise TypeError for a name that no request has, ValueError for a verb or a resource.
        """
        check_names(where)
        if self._caller is not None and "resource" in where:
            self._caller.call("check_resources", where["resource"])
        return Requests((record for record in self._records() if matches(record, where)), self._caller)

    def lists(self) -> Requests:
        """Return the lists."""
        return self.of(verb="list")

    def watches(self) -> Requests:
        """Return the watches."""
        return self.of(verb="watch")

    def writes(self) -> Requests:
        """Return what creates, updates, patches or deletes."""
        return Requests((record for record in self._records() if record.verb in WRITES), self._caller)

    def last(self, n: int = 1) -> Requests:
        """Return the last requests."""
        return Requests(self._records()[-n:] if n > 0 else (), self._caller)

    def count(self, *given: Any, **where: Any) -> int:
        """Return the number of requests that are as wanted."""
        if given:
            return sum(record in given for record in self._records())
        return len(self.of(**where))

    def table(self) -> str:
        """Return the requests as a table to be read; columns that are empty in all of them are left out."""
        return table_of(self._records())

    def by_resource(self) -> Counter[str]:
        """Return the number of requests by resource."""
        return Counter(record.resource for record in self._records() if record.resource)

    def assert_none(self, **where: Any) -> None:
        """Raise AssertionError, with the requests in it, if there are any."""
        self.assert_count(0, **where)

    def assert_count(self, n: int, **where: Any) -> None:
        """Raise AssertionError, with the requests in it, unless there are so many."""
        __tracebackhide__ = True
        found = self.of(**where)
        if len(found) == n:
            return
        wanted = ", ".join(f"{name}={value!r}" for name, value in where.items()) or "of any kind"
        lines = [f"expected {n or 'no'} request{'' if n == 1 else 's'} {wanted}, found {len(found)}"]
        others = self._records()[-20:] if not found else ()
        lines += [f"  {record}" for record in found]
        if others:
            lines += ["the last requests were", *(f"  {record}" for record in others)]
        raise AssertionError("\n".join(lines))

    def __repr__(self) -> str:
        return "\n".join(map(str, self._records())) or "no requests"


class Journal(Requests):
    """The requests of a server, as they are at each look: the last 10,000."""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller=caller)
        self._caller: Caller = caller
        self._generation, self._stamp = -1, 0
        self._known: dict[int, Record] = {}
        self._dropped = 0

    def _records(self) -> Sequence[Record]:
        page = self._caller.call("page", self._generation, self._stamp)
        if page.generation != self._generation:
            self._known.clear()
        self._generation, self._stamp, self._dropped = page.generation, page.stamp, page.dropped
        for record in page.records:
            self._known[record.number] = record
        for number in [number for number in self._known if number < page.first]:
            del self._known[number]
        return [self._known[number] for number in sorted(self._known)]

    @property
    def dropped(self) -> int:
        """Return the number of older requests that are not kept."""
        self._records()
        return self._dropped

    def clear(self) -> None:
        """Forget all requests."""
        self._caller.call("clear_requests")
