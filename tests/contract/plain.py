"""A backend in plain Python: the same promises as the native store, none of its means."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass

from hydrofoil.engine import Draft, ResourceType, Selector, Stored
from hydrofoil.storage.backend import Conflict, Exists, Expired, Future, Missing
from hydrofoil.watch.stream import NOTHING

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


@dataclass(frozen=True)
class Event:
    """What one write did to one object."""

    revision: int
    key: str
    old: Stored | None
    new: Stored | None
    last: Stored
    """The object as the event shows it."""


class PlainBackend:
    """Objects in dictionaries; the history is a list of the last `events` writes of each collection."""

    def __init__(self, events: int) -> None:
        self.revision = 100
        self.events = events
        self._collections: dict[tuple[str, str], PlainCollection] = {}
        self.woken: set[int] = set()

    def collection(self, resource: ResourceType, name: tuple[str, str]) -> PlainCollection:
        """The collection of that name."""
        return self._collections.setdefault(name, PlainCollection(self))

    def take_woken(self) -> list[int]:
        """The tokens of the watchers that have events waiting."""
        woken, self.woken = sorted(self.woken), set()
        return woken


def key_of(stored: Stored) -> str:
    """Namespace and name, in the order of lists."""
    return f"{stored.namespace}/{stored.name}"


class PlainCollection:
    """The objects of one resource and what happened to them."""

    def __init__(self, backend: PlainBackend) -> None:
        self.backend = backend
        self.objects: dict[str, Stored] = {}
        self.events: list[Event] = []
        self.oldest = backend.revision
        self.watchers: list[PlainWatcher] = []

    def _commit(self, key: str, old: Stored | None, new: Draft | None, last: Draft) -> Stored:
        self.backend.revision += 1
        shown = last.preview(self.backend.revision)
        event = Event(self.backend.revision, key, old, shown if new else None, shown)
        self.events.append(event)
        if len(self.events) > self.backend.events:
            self.oldest = self.events.pop(0).revision
        if new:
            self.objects[key] = shown
        else:
            del self.objects[key]
        self.backend.woken.update(w.token for w in self.watchers if w.kind(event))
        return shown

    def _present(self, old: Stored) -> str:
        key = key_of(old)
        if key not in self.objects:
            raise Missing
        if self.objects[key].revision != old.revision:
            raise Conflict
        return key

    async def create(self, draft: Draft) -> Stored:
        """Stores a new object."""
        key = key_of(draft.preview(0))
        if key in self.objects:
            raise Exists
        return self._commit(key, None, draft, draft)

    async def update(self, old: Stored, draft: Draft) -> Stored:
        """Replaces `old`."""
        key = self._present(old)
        if draft.preview(old.revision).json == old.json:
            return old
        return self._commit(key, old, draft, draft)

    async def delete(self, old: Stored) -> Stored:
        """Takes `old` out."""
        return self._commit(self._present(old), old, None, old.thaw())

    def get(self, resource: ResourceType, namespace: str, name: str) -> Stored | None:
        """The present version of an object."""
        return self.objects.get(f"{namespace}/{name}")

    def list(
        self, resource: ResourceType, selector: Selector, form: str, limit: int, revision: int, start: str
    ) -> PlainCursor:
        """A list at a revision."""
        revision = revision or self.backend.revision
        self._reach(revision)
        if revision > self.backend.revision:
            raise Future(revision, self.backend.revision)
        state = dict(self.objects)
        for event in reversed(self.events):
            if event.revision <= revision:
                break
            if event.old is None:
                del state[event.key]
            else:
                state[event.key] = event.old
        chosen = [s for key, s in sorted(state.items()) if key >= start and selector.matches(s)]
        return PlainCursor(revision, chosen, limit)

    def _reach(self, revision: int) -> None:
        if revision < self.oldest:
            raise Expired(revision, self.oldest)

    def watch(
        self, resource: ResourceType, selector: Selector, form: str, revision: int | None, token: int, framed: bool
    ) -> PlainWatcher:
        """A cursor from after a revision, or the present state first."""
        lines = []
        if revision is None:
            state = self.list(resource, selector, form, 0, 0, "")
            lines = [_line(ADDED, s) for s in state.versions(len(self.objects))]
            revision = self.backend.revision
        self._reach(revision)
        watcher = PlainWatcher(self, selector, revision, token, lines)
        self.watchers.append(watcher)
        return watcher

    def size(self) -> tuple[int, int, int]:
        """How many objects, their bytes, and how many watchers there are."""
        return len(self.objects), sum(len(s.json) for s in self.objects.values()), len(self.watchers)


class PlainCursor:
    """What a list has yet to give."""

    def __init__(self, revision: int, left: list[Stored], limit: int) -> None:
        self.revision = revision
        self._left = left
        self._limit = limit or len(left)

    def ahead(self) -> tuple[int, tuple[str, int | None] | None]:
        """How many items come, and where the next list begins with how many left."""
        rest = self._left[self._limit :]
        return min(self._limit, len(self._left)), (key_of(rest[0]), len(rest)) if rest else None

    def versions(self, size: int) -> list[Stored]:
        """The next items."""
        size = min(size, self._limit)
        given, self._left = self._left[:size], self._left[size:]
        self._limit -= len(given)
        return given


class PlainWatcher:
    """A place in the history of a collection."""

    def __init__(
        self, collection: PlainCollection, selector: Selector, revision: int, token: int, lines: list[bytes]
    ) -> None:
        self._collection = collection
        self._selector = selector
        self._revision = revision
        self.token = token
        self._lines = lines

    def kind(self, event: Event) -> str | None:
        """What an event is for this selector."""
        before = event.old is not None and self._selector.matches(event.old)
        after = event.new is not None and self._selector.matches(event.new)
        if not before and not after:
            return None
        return MODIFIED if before and after else ADDED if after else DELETED

    def drain(self, size: int) -> tuple[bytes | None, int]:
        """Everything that waits."""
        events = self._collection.events
        for event in events[bisect_right(events, self._revision, key=lambda e: e.revision) :]:
            if kind := self.kind(event):
                # What leaves a selection is shown as it was when it belonged to it, at the revision of its leaving.
                left = kind == DELETED and event.new is not None and event.old is not None
                shown = event.old.thaw().preview(event.revision) if left and event.old else event.last
                self._lines.append(_line(kind, shown))
        self._revision = self._collection.backend.revision
        data, self._lines = b"".join(self._lines), []
        return data or None, NOTHING

    def bookmark(self, initial: bool) -> bytes | None:
        """How far the watcher is."""
        return json.dumps(
            {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(self._revision)}}}
        ).encode()


def _line(kind: str, stored: Stored) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), stored.json)
