"""The policies and bindings of one kind, as they are now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from hydrofoil.admission.policies.policy import Binding, Policy
from hydrofoil.engine import Stored
from hydrofoil.watch.follow import Followed

P = TypeVar("P", bound=Policy)
V = TypeVar("V")


class Named(Generic[V]):
    """A state: a value for each object, by name; a broken object has none."""

    def __init__(self, make: Callable[[Stored], V]) -> None:
        self._make = make
        self.all: dict[str, V] = {}
        self.changes = 0
        """A count that grows with each change."""

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present objects."""
        self.all = {stored.name: self._make(stored) for stored in objects}
        self.changes += 1

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        if new is not None:
            self.all[new.name] = self._make(new)
        elif old is not None:
            self.all.pop(old.name, None)
        self.changes += 1

    async def settle(self) -> None:
        """Return at once: nothing is pending."""


class Source(Generic[P]):
    """Policies with their bindings, in the order of names; those without a binding are left out."""

    def __init__(self, policies: Followed[Named[P]], bindings: Followed[Named[Binding]]) -> None:
        self._policies = policies
        self._bindings = bindings
        self._seen = (-1, -1)
        self._bound: Sequence[tuple[P, Sequence[Binding]]] = ()

    def bound(self) -> Sequence[tuple[P, Sequence[Binding]]]:
        """Return them."""
        policies, bindings = self._policies.state, self._bindings.state
        changes = (policies.changes, bindings.changes)
        if changes != self._seen:
            self._seen = changes
            found: dict[str, list[Binding]] = {}
            for _, binding in sorted(bindings.all.items()):
                found.setdefault(binding.policy, []).append(binding)
            self._bound = [(policy, found[name]) for name, policy in sorted(policies.all.items()) if name in found]
        return self._bound
