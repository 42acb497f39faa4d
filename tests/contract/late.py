"""A log whose truth is apart from the views: events come late, from another thread, at revisions with gaps."""

from __future__ import annotations

import asyncio
import queue
import threading
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hydrofoil.clock import Clock
from hydrofoil.engine import Change, Checkpoint, ResourceType, Stored, View
from hydrofoil.storage.errors import Conflict, Exists, Missing, StorageError, Unsupported
from hydrofoil.storage.log import Guarded, Name, key

TURNS = 3
"""The number of turns of the loop by which an event is late."""


@dataclass
class Kept:
    """The truth of one collection: its revision, its events, and its objects."""

    revision: int
    events: list[tuple[int, Change]] = field(default_factory=list)
    objects: dict[str, tuple[int, Change]] = field(default_factory=dict)


class Truth:
    """The truth, shared by any number of servers in this process. Each collection counts for itself, with gaps."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._collections: dict[str, Kept] = {}
        self._feeds: list[Feed] = []

    def collection(self, name: str) -> Kept:
        """Return the truth of a collection; their revisions begin apart and cannot be compared."""
        if name not in self._collections:
            self._collections[name] = Kept(1000 + 97 * len(self._collections))
        return self._collections[name]

    def begin(self, feed: Feed) -> None:
        """Send a feed all writes from now on."""
        with self._lock:
            self._feeds.append(feed)

    def end(self, feed: Feed) -> None:
        """Send a feed nothing more."""
        with self._lock:
            self._feeds.remove(feed)

    def latest(self, name: str) -> int:
        """How far the truth of a collection is."""
        with self._lock:
            return self.collection(name).revision

    def state(self, name: str) -> tuple[list[tuple[int, Change]], int]:
        """Return the present objects, and their revision."""
        with self._lock:
            kept = self.collection(name)
            return list(kept.objects.values()), kept.revision

    def after(self, name: str, revision: int) -> list[tuple[int, Change]]:
        """Return the events after a revision."""
        with self._lock:
            events = self.collection(name).events
            return events[bisect_right(events, revision, key=lambda e: e[0]) :]

    def next(self, kept: Kept) -> int:
        """Return the revision of the next write to a collection."""
        return kept.revision + 1 + kept.revision % 7

    def commit(self, change: Change) -> int:
        """Check a change and give it a revision. Raise Exists, Missing and Conflict."""
        with self._lock:
            kept = self.collection(change.resource)
            present = kept.objects.get(change.key)
            if change.expected == 0:
                if present is not None:
                    raise Exists
            elif present is None:
                raise Missing
            elif present[0] != change.expected:
                raise Conflict
            kept.revision = self.next(kept)
            kept.events.append((kept.revision, change))
            if change.deletes:
                del kept.objects[change.key]
            else:
                kept.objects[change.key] = kept.revision, change
            for feed in self._feeds:
                feed.put(change.resource)
            return kept.revision


class Feed:
    """One thread that brings a view what is true, some turns of the loop after it became so."""

    def __init__(self, truth: Truth, view: View) -> None:
        self._truth = truth
        self._view = view
        self._loop = asyncio.get_running_loop()
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._places: dict[str, int] = {}
        self._made: dict[int, Callable[[Stored | None], None]] = {}
        self._going = threading.Event()
        self._going.set()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
        self._thread.start()

    def put(self, name: str) -> None:
        """Something happened to a collection."""
        self._work.put(partial(self._feed, name))

    def follow(self, name: str, done: Callable[[], None]) -> None:
        """Load a collection, then feed it."""
        self._work.put(partial(self._load, name, done))

    def forget(self, name: str) -> None:
        """Feed a collection no longer."""
        self._work.put(partial(self._forget, name))

    def reach(self, name: str, done: Callable[[], None]) -> None:
        """Call `done` when the view of a collection is as far as the truth is now."""
        self.put(name)
        self._work.put(done)

    def lose(self, name: str) -> None:
        """Lose the place: what happened is not known any more, only what is there."""
        self._work.put(partial(self._replace, name))

    def when(self, change: Change, call: Callable[[Stored | None], None]) -> None:
        """Pass `call` the version that a change makes, once the view shows it."""
        self._made[id(change)] = call

    def unless(self, change: Change) -> None:
        """Discard the version: it is no longer wanted."""
        del self._made[id(change)]

    def hold(self) -> None:
        """Bring nothing more until `go`."""
        self._going.clear()

    def go(self) -> None:
        """Bring what waits."""
        self._going.set()

    async def close(self) -> None:
        """Bring nothing more, and end."""
        self._work.put(None)
        self._going.set()
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            self._later()
            self._going.wait()
            work()

    def _later(self) -> None:
        done = threading.Event()

        def turn(left: int) -> None:
            if left:
                self._loop.call_soon(turn, left - 1)
            else:
                done.set()

        self._loop.call_soon_threadsafe(turn, TURNS)
        done.wait()

    def _load(self, name: str, done: Callable[[], None]) -> None:
        states, self._places[name] = self._truth.state(name)
        self._view.load(name, states, self._places[name])
        done()

    def _replace(self, name: str) -> None:
        states, self._places[name] = self._truth.state(name)
        self._view.replace(name, states, self._places[name])

    def _forget(self, name: str) -> None:
        self._places.pop(name, None)

    def _feed(self, name: str) -> None:
        if name not in self._places:
            return
        for revision, change in self._truth.after(name, self._places[name]):
            made = self._view.apply(change, revision)
            self._places[name] = revision
            if (call := self._made.pop(id(change), None)) is not None:
                call(made)


class LateLog:
    """The log of one server over a truth."""

    direct = False
    is_loaded = False
    at_once = False
    leases = False
    guarded: Guarded | None = None
    known_revision_timeout = 3.0
    latest_revision_timeout = 3.0

    feed: Feed

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self._loaded: dict[str, asyncio.Future[None]] = {}

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        self._view = view
        self._loop = asyncio.get_running_loop()
        self.feed = Feed(self.truth, view)
        self.truth.begin(self.feed)

    def follow(self, name: Name, resource: ResourceType) -> asyncio.Future[None]:
        loaded = self._loaded[key(name)] = self._loop.create_future()
        self.feed.follow(key(name), partial(self._done, loaded, None))
        return loaded

    def started(self) -> None:
        """Do nothing: each collection begins at the present."""

    def forget(self, name: Name) -> None:
        self.feed.forget(key(name))

    def latest(self, name: Name) -> int | None:
        return self.truth.latest(key(name))

    def catch_up(self) -> bool:
        return False

    async def ask(self, name: Name) -> int:
        return self.truth.latest(key(name))

    def restore(self, state: Checkpoint) -> int:
        raise Unsupported

    def compact(self) -> None:
        self._view.compact()

    def problem(self) -> str:
        return ""

    async def close(self) -> None:
        self.truth.end(self.feed)
        await self.feed.close()

    async def commit(self, change: Change) -> Stored:
        return await asyncio.shield(asyncio.ensure_future(self._commit(change)))

    async def _commit(self, change: Change) -> Stored:
        await self._loaded[change.resource]
        made: asyncio.Future[Stored] = self._loop.create_future()
        self.feed.when(change, partial(self._done, made))
        try:
            self.truth.commit(change)
        except StorageError:
            self.feed.unless(change)
            await self.worked_off(change.resource)
            raise
        return await made

    async def worked_off(self, name: str) -> None:
        """Wait until the feed has done all that it was asked for up to now."""
        done: asyncio.Future[None] = self._loop.create_future()
        self.feed.reach(name, partial(self._done, done, None))
        await done

    def _done(self, future: asyncio.Future[Any], result: object) -> None:
        """Set the result, from the thread of the feed."""
        self._loop.call_soon_threadsafe(future.set_result, result)
