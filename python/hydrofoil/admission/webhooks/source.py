"""The webhooks of all configurations, as they are now (apiserver `pkg/admission/configuration`)."""

from __future__ import annotations

from collections.abc import Iterable

from hydrofoil.admission.webhooks.hook import Hook, hooks
from hydrofoil.engine import Stored


class Source:
    """A state: the webhooks of one kind of configurations, ordered by the name of the configuration."""

    def __init__(self) -> None:
        self._configurations: dict[str, tuple[Hook, ...]] = {}
        self.hooks: tuple[Hook, ...] = ()

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present objects."""
        self._configurations = {stored.name: hooks(stored) for stored in objects}
        self._sorted()

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        if new is not None:
            self._configurations[new.name] = hooks(new)
        elif old is not None:
            self._configurations.pop(old.name, None)
        self._sorted()

    async def settle(self) -> None:
        """Return at once: nothing is pending."""

    def _sorted(self) -> None:
        self.hooks = tuple(hook for _, found in sorted(self._configurations.items()) for hook in found)
