"""The source of a view of another API server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import NoReturn

import orjson

from hydrofoil import engine
from hydrofoil.clock import Chance, Clock, stopwatch
from hydrofoil.engine import Change, Checkpoint, ResourceType, Stored, View
from hydrofoil.pool import retrieve_result
from hydrofoil.storage.errors import Unavailable, Unsupported
from hydrofoil.storage.log import Guarded, Name, key
from hydrofoil.storage.upstream.contact import Contact
from hydrofoil.storage.upstream.feed import Feed
from hydrofoil.storage.upstream.requests import Failed, Requests

GATHER_SECONDS = 0.001
"""The time in which those who ask for the latest version join one question."""
ASK_SECONDS = 4.0
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
"""Only the version of a list matters."""


class Question:
    """The questions for the version of one resource: one under way, and one for those who came since."""

    def __init__(self) -> None:
        # Held while a question is under way: its answer may be older than whoever comes now, who asks the next one.
        self.turn = asyncio.Lock()
        self.next: asyncio.Task[int] | None = None


class UpstreamLog:
    """One list and one watch a resource feed the view; nothing is written through it."""

    direct = False
    is_loaded = False
    at_once = False
    leases = False
    guarded: Guarded | None = None
    known_revision_timeout = 0.1
    """A view that is not there by then leaves the read to the upstream."""
    latest_revision_timeout = ASK_SECONDS

    _view: View
    _clock: Clock
    _advanced: Callable[[], None]

    def __init__(self, requests: Requests, contact: Contact, chance: Chance) -> None:
        self.contact = contact
        self.asked = 0
        """The number of questions for a version."""
        self.rewound: Callable[[Name], None] = lambda _: None
        """Called with a collection whose upstream is at an earlier version than the view."""
        self.paths: dict[Name, str] = {}
        """The paths of collections, which are set before they are followed."""
        self._requests = requests
        self._chance = chance
        self._feeds: dict[Name, Feed] = {}
        self._types: dict[Name, ResourceType] = {}
        """The types of this server that the mirrors are of."""
        self._natives: dict[Name, engine.UpstreamFeed] = {}
        self._questions: dict[Name, Question] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        self._view, self._clock, self._advanced = view, clock, advanced

    def mirror(self, name: Name, path: str, resource: ResourceType, saved: bytes = b"") -> tuple[ResourceType, int]:
        """Prepare a collection at a path. Return its type, with objects as the upstream wrote them, and its version.

        `saved` is a list that an earlier process has kept.
        """
        native = engine.UpstreamFeed(self._view, key(name), resource, False)
        revision = 0
        if saved:
            try:
                native.begin(True)
                revision, _ = native.read_page(saved)
                native.complete(revision)
            except engine.DataError:
                # It was not written to its end: the upstream has the objects.
                revision = 0
        self.paths[name] = path
        self._natives[name] = native
        self._types[name] = resource
        return native.resource, revision

    @property
    def feeds(self) -> Mapping[Name, Feed]:
        """Return the feeds by collection."""
        return self._feeds

    def follow(self, name: Name, resource: ResourceType) -> asyncio.Future[None]:
        shard = self._view.shard(key(name))
        feed = Feed(
            self.paths[name],
            self._natives[name],
            shard,
            self._requests,
            self.contact,
            self._clock,
            self._chance,
            self._advanced,
            lambda: self.rewound(name),
            lambda: engine.UpstreamFeed(self._view, key(name), self._types[name], True),
            revision=shard.revision,
        )
        self._feeds[name] = feed
        return feed.loaded

    def started(self) -> None:
        """Do nothing: each collection has its own history."""

    def forget(self, name: Name) -> None:
        """Stop feeding a collection."""
        feed = self._feeds.pop(name, None)
        self._natives.pop(name, None)
        self._types.pop(name, None)
        self._questions.pop(name, None)
        if feed is not None:
            task = asyncio.ensure_future(feed.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def latest(self, name: Name) -> None:
        """Return None: only the upstream knows."""

    def catch_up(self) -> bool:
        """Return False: only the upstream knows."""
        return False

    async def ask(self, name: Name) -> int:
        """Return the upstream's version of a collection; those who ask before a question is sent share it."""
        question = self._questions.setdefault(name, Question())
        if question.next is None:
            question.next = asyncio.create_task(self._ask(name, question))
            question.next.add_done_callback(retrieve_result)
        return await asyncio.shield(question.next)

    async def _ask(self, name: Name, question: Question) -> int:
        async with question.turn:
            await self._clock.machine.sleep(GATHER_SECONDS)
            # Who comes from now on may have seen a later version.
            question.next = None
            self.asked += 1
            before = self._view.shard(key(name)).revision
            try:
                answer = await self._requests.get(f"{self.paths[name]}?limit=1", ASK_SECONDS, accept=METADATA)
            except Failed as e:
                raise Unavailable(str(e)) from None
        if answer.status != 200:
            raise Unavailable(f"the upstream answers {answer.status}")
        try:
            revision = int(orjson.loads(answer.body)["metadata"]["resourceVersion"])
        except (json.JSONDecodeError, KeyError, TypeError, ValueError):
            raise Unavailable("the upstream's list has no version") from None
        if revision < before:
            self.rewound(name)
            raise Unavailable("the upstream is at an earlier version")
        feed = self._feeds.get(name)
        if feed is not None and self._view.shard(key(name)).revision >= revision:
            feed.heard = stopwatch()
        return revision

    def compact(self) -> None:
        self._view.compact()

    def restore(self, state: Checkpoint) -> NoReturn:
        raise Unsupported("the objects are the upstream's")

    def problem(self) -> str:
        return self.contact.problem

    async def close(self) -> None:
        """Stop all feeds."""
        feeds, self._feeds = list(self._feeds.values()), {}
        await asyncio.gather(*(feed.close() for feed in feeds), *self._closing)

    async def commit(self, change: Change) -> Stored:
        raise Unsupported("the objects are the upstream's")
