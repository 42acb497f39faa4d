"""The faults of a server in the hands of a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hydrofoil.testing.caller import Caller


class Fault:
    """One fault."""

    def __init__(self, caller: Caller, number: int) -> None:
        self._caller = caller
        self._number = number
        self._last: Any = None
        """Its last known state: counts stay readable after the removal."""

    def _state(self) -> Any:
        found = self._caller.call("fault", self._number)
        if found is not None:
            self._last = found
        return self._last

    @property
    def seen(self) -> int:
        """Return the number of requests that matched."""
        state = self._state()
        return 0 if state is None else int(state.seen)

    @property
    def hits(self) -> int:
        """Return the number of times that it acted."""
        state = self._state()
        return 0 if state is None else int(state.hits)

    def remove(self) -> None:
        """Remove it; streams that it holds back continue. Again is no error."""
        self._state()
        self._caller.call("remove_fault", self._number)

    def __str__(self) -> str:
        state = self._state()
        return "a fault that was removed" if state is None else str(state.text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fault):
            return NotImplemented
        return self._caller is other._caller and self._number == other._number

    def __hash__(self) -> int:
        return hash((id(self._caller), self._number))

    def __repr__(self) -> str:
        return f"<Fault {self}>"


class Faults:
    """The faults of one server, the first added first."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def add(self, action: str, **given: Any) -> Fault:
        """Add a fault: match (`verb resource namespace name user agent path nth times`) and parameters of the action.

        Raise TypeError and ValueError for a wrong name or value.
        """
        fault = Fault(self._caller, self._caller.call("add_fault", action, given))
        fault._state()
        return fault

    def clear(self) -> None:
        """Remove all faults."""
        self._caller.call("clear_faults")

    def __len__(self) -> int:
        return len(self._caller.call("all_faults"))

    def __iter__(self) -> Iterator[Fault]:
        return iter([Fault(self._caller, state.number) for state in self._caller.call("all_faults")])

    def __str__(self) -> str:
        return "\n".join(state.text for state in self._caller.call("all_faults"))
