"""A backend in plain Python: the same promises as the native store, none of its means."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field


@dataclass
class Model:
    """Objects by key with the revision of their last change, and every event."""

    start: int
    revision: int = 0
    objects: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    events: list[tuple[int, str, str, dict[str, str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.revision = self.start

    def _note(self, kind: str, key: str, labels: dict[str, str]) -> int:
        self.revision += 1
        self.events.append((self.revision, kind, key, labels))
        return self.revision

    def create(self, key: str, labels: dict[str, str]) -> int | None:
        """Create the object; return its revision, None if it exists."""
        if key in self.objects:
            return None
        revision = self._note("ADDED", key, labels)
        self.objects[key] = (revision, labels)
        return revision

    def update(self, key: str, labels: dict[str, str]) -> int | None:
        """Update the object; return its revision, None if it does not exist."""
        if key not in self.objects:
            return None
        old = self.objects[key]
        if old[1] == labels:
            return old[0]
        revision = self._note("MODIFIED", key, labels)
        self.objects[key] = (revision, labels)
        return revision

    def delete(self, key: str) -> int | None:
        """Delete the object; return the revision of the deletion, None if it does not exist."""
        if key not in self.objects:
            return None
        _, labels = self.objects.pop(key)
        return self._note("DELETED", key, labels)

    def state_at(self, revision: int) -> dict[str, int]:
        """Keys and their revisions at a revision."""
        state: dict[str, int] = {}
        for at, kind, key, _ in self.events:
            if at > revision:
                break
            if kind == "DELETED":
                state.pop(key, None)
            else:
                state[key] = at
        return state

    def after(self, revision: int) -> list[tuple[int, str, str]]:
        """Return the events after a revision."""
        first = bisect.bisect_right(self.events, (revision, "~", "", {}))
        return [(at, kind, key) for at, kind, key, _ in self.events[first:]]
