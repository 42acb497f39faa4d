"""The faults of one server, in the order of their adding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from hydrofoil.controls.fault import Fault, Subject
from hydrofoil.controls.journal import Journal
from hydrofoil.controls.watching import OpenWatch


class Faults:
    """Faults that act on requests and on watches, also on those that are open when a fault is added."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._all: dict[int, Fault] = {}
        self._numbers = count(1)
        self._removed: list[Fault] = []
        """Those that were removed since the last look, in case that they never matched."""

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Fault]:
        return iter(list(self._all.values()))

    def add(self, action: str, given: Mapping[str, Any]) -> Fault:
        """Add a fault. Raise TypeError and ValueError."""
        fault = Fault(next(self._numbers), action, given)
        self._all[fault.number] = fault
        if fault.on_streams:
            for watch in list(self._journal.open):
                if fault.meets(watch.subject):
                    watch.add(fault)
        return fault

    def find(self, number: int) -> Fault | None:
        """Return a fault by its number."""
        return self._all.get(number)

    def remove(self, fault: Fault) -> None:
        """Remove a fault; requests and streams that it holds back continue."""
        fault.remove()
        self._removed.append(fault)
        self._all.pop(fault.number, None)
        for watch in list(self._journal.open):
            watch.remove(fault)

    def clear(self) -> None:
        """Remove all faults."""
        for fault in self:
            self.remove(fault)

    def unmatched(self, before: Iterable[Fault]) -> list[Fault]:
        """Return the faults that matched no request, but for those of before; the removed ones are forgotten then."""
        known = {id(fault) for fault in before}
        removed, self._removed = self._removed, []
        return [fault for fault in (*removed, *self) if not fault.seen and id(fault) not in known]

    def down(self, subject: Subject) -> Fault | None:
        """Return the fault for which the server is down, if a request meets one."""
        return next((fault for fault in self if fault.action == "down" and fault.meets(subject)), None)

    def return_to(self, faults: Iterable[Fault]) -> None:
        """Return to these faults: others are removed, those that were removed act again."""
        before = {fault.number: fault for fault in faults}
        for fault in self:
            if fault.number not in before:
                self.remove(fault)
        for fault in before.values():
            fault.removed = False
        self._all = before
        # The next test answers for its own faults alone.
        self._removed.clear()

    def about(self, subject: Subject, watch: OpenWatch | None) -> list[Fault]:
        """Return the faults that may act on a request, the first added first; those on its events are at its watch."""
        found = []
        for fault in self:
            # Requests have met it before.
            if fault.action == "down" or not fault.meets(subject):
                continue
            if watch is not None and fault.on_streams and not at_start(fault, subject):
                watch.add(fault)
            else:
                found.append(fault)
        return found


def at_start(fault: Fault, subject: Subject) -> bool:
    """Report whether a fault expires a watch when it begins: one at a version is refused, if not after events."""
    return fault.action == "expire" and not fault.after and versioned(subject)


def versioned(subject: Subject) -> bool:
    """Report whether a list or watch is at a version, or continues one."""
    info = subject.info
    if info.verb not in ("list", "watch"):
        return False
    pairs = (part.partition("=") for part in info.query.split("&"))
    given = {key: value for key, _, value in pairs}
    return given.get("resourceVersion", "") not in ("", "0") or (info.verb == "list" and bool(given.get("continue")))
