"""The feed of one resource: a list and then a watch, which is resumed where it ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from urllib.parse import quote, urlencode

from hydrofoil import engine
from hydrofoil.clock import Chance, Clock, stopwatch
from hydrofoil.engine import Shard
from hydrofoil.errors import FAULTS
from hydrofoil.pool import run
from hydrofoil.storage.upstream.contact import Contact
from hydrofoil.storage.upstream.requests import Failed, Requests

LOG = logging.getLogger("hydrofoil")
PAGE = 500
"""The number of objects of a page, where the upstream cannot list by a watch (client-go `tools/pager`)."""
PAGE_SECONDS = 60.0
WATCH_SECONDS = (300, 600)
"""The life of a watch, as it is requested (client-go `tools/cache.Reflector`)."""
SILENCE_SECONDS = 150.0
"""The time after which a watch without a byte is taken for lost: bookmarks arrive every minute."""
PAUSES = (0.1, 5.0)
"""The first and the greatest delay before another attempt; it doubles in between."""
REFUSED_SECONDS = 15.0
"""The delay after the upstream has refused the list: the right, or the resource, may come."""
PROBE_SECONDS = (2, 5)
"""The life of a watch for its bookmark alone: first, and where that was too short for one."""
SLICE = 32 * 1024
"""The bytes that are read within one turn of the loop."""
GONE = 410
UNKNOWN_VERSION = 504
"""The status of a version that the upstream has not reached, among others."""
FUTILE = 3
"""How often that is tried before the state is read anew."""
BUSY = frozenset((408, 429, 500, 502, 503, 504))
"""Statuses after which the same is asked again."""


class Rewound(Exception):
    """The upstream is at an earlier version than the view: it was restored, or is another one."""


class Refused(Exception):
    """The upstream does not list the resource: its status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Feed:
    """One resource at the upstream, and the part of the view that follows it."""

    def __init__(
        self,
        path: str,
        native: engine.UpstreamFeed,
        shard: Shard,
        requests: Requests,
        contact: Contact,
        clock: Clock,
        chance: Chance,
        advanced: Callable[[], None],
        rewound: Callable[[], None],
        probe: Callable[[], engine.UpstreamFeed],
        *,
        revision: int = 0,
    ) -> None:
        """`path` is that of the collection across namespaces; `revision`: the view has this state already.

        Call `rewound` when the upstream is at an earlier version than the view, which cannot follow it then. `probe`
        returns another reader of the same resource.
        """
        self.path = path
        self.problem = ""
        """Why the view is not fed; empty while it is."""
        self.tried = asyncio.Event()
        """Set once the first state is loaded, or could not be."""
        self.broken = asyncio.Event()
        """Set while there is a problem."""
        self.heard = stopwatch()
        """When the view was last known to be as new as the upstream."""
        self.lists = 0
        """How often the whole state was read."""
        self.loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done with the first state."""
        self._native = native
        self._shard = shard
        self._requests = requests
        self._contact = contact
        self._clock = clock
        self._chance = chance
        self._advanced = advanced
        self._rewound = rewound
        self._probe = probe
        self._probing: asyncio.Task[None] | None = None
        self._probe_seconds, self._longest_probe = PROBE_SECONDS
        self._limit: asyncio.Timeout | None = None
        """The limit of the present stream, which has none before the upstream was away."""
        contact.on_change(self._begin_anew)
        self._futile = 0
        """How often the upstream did not know the version of the view, one after the other."""
        self._listed = bool(revision)
        """Whether the view has a state from which a watch can go on."""
        self._streams = True
        """Whether the upstream lists by a watch, as far as that is known."""
        self._lists_here = False
        """Whether the present stream has not ended its list."""
        self._task = asyncio.create_task(self._run(), name=f"feed of {path}")

    async def close(self) -> None:
        """Stop."""
        self._contact.forget(self._begin_anew)
        tasks = [task for task in (self._task, self._probing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not self.loaded.done():
            self.loaded.cancel()

    def _begin_anew(self) -> None:
        """End the present stream once the upstream is back: its connection may be silent for ever."""
        if self._limit is not None and not self._contact.away and not self._limit.expired():
            self._limit.reschedule(asyncio.get_running_loop().time())

    def lag(self) -> None:
        """Report that the upstream is at a later version than the view, and no event shows why.

        A resource without events gets a bookmark each minute only. A second watch from the same version, which ends
        soon, gets one at its end, behind all events: kube-apiserver sends it within a second or so (apiserver
        `storage/cacher/cache_watcher.go`, `nextBookmarkTime`).
        """
        if self._probing is None or self._probing.done():
            self._probing = asyncio.create_task(self._catch_up(), name=f"bookmark of {self.path}")

    async def _catch_up(self) -> None:
        before = self._shard.revision
        query = {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": str(before)}
        query["timeoutSeconds"] = str(self._probe_seconds)
        native = self._probe()
        native.begin(False)
        try:
            async with self._requests.stream(f"{self.path}?{urlencode(query)}", SILENCE_SECONDS) as answer:
                if answer.status != 200:
                    return
                async for piece in answer.pieces:
                    for at in range(0, len(piece), SLICE):
                        _, _, code, _ = native.read(piece[at : at + SLICE])
                        self._advanced()
                        if code:
                            return
                        await asyncio.sleep(0)
            if self._shard.revision == before:
                self._probe_seconds = self._longest_probe
        except (Failed, engine.DataError):
            # The first watch goes on.
            return
        except FAULTS:
            LOG.exception("the bookmark of %s failed", self.path)

    def _loaded(self) -> None:
        self._listed = True
        self.tried.set()
        if not self.loaded.done():
            self.loaded.set_result(None)

    def _report(self, problem: str) -> None:
        self.problem = problem
        if problem:
            self.tried.set()
            self.broken.set()
        else:
            self.broken.clear()

    async def _run(self) -> None:
        pause = PAUSES[0]
        while True:
            began = stopwatch()
            try:
                await self._follow()
                self._report("")
                pause = PAUSES[0]
                continue
            except Rewound:
                self._report("the upstream is at an earlier version")
                self._rewound()
                return
            except Refused as e:
                self._report(f"the upstream answers {e.status}")
                wait = REFUSED_SECONDS
            except (Failed, engine.DataError) as e:
                self._report(str(e))
                # One that has lasted was fine before.
                pause = PAUSES[0] if stopwatch() - began > PAUSES[1] else min(pause * 2, PAUSES[1])
                wait = self._chance.between(pause / 2, pause)
            except FAULTS as e:
                LOG.exception("the feed of %s failed", self.path)
                self._report(str(e) or type(e).__name__)
                wait = PAUSES[1]
            await self._clock.machine.wait(self._contact.changed, wait)

    async def _follow(self) -> None:
        """List and watch until the watch ends. Raise Failed, Refused and DataError."""
        lists = not self._listed
        if lists and not self._streams:
            await self._list()
            lists = False
        query = {"watch": "true", "allowWatchBookmarks": "true"}
        if lists:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        else:
            query["resourceVersion"] = str(self._shard.revision)
        query["timeoutSeconds"] = str(int(self._chance.between(*WATCH_SECONDS)))
        self._native.begin(lists)
        self._lists_here = lists
        async with self._requests.stream(f"{self.path}?{urlencode(query)}", SILENCE_SECONDS) as answer:
            if answer.status == GONE:
                self._listed = False
                return
            if answer.status != 200:
                self._judge(answer.status, lists)
                return
            self._report("")
            self._futile = 0
            if not lists:
                # A state of an earlier process is not shown before the upstream goes on from it.
                self._loaded()
            try:
                async with asyncio.timeout(None) as self._limit:
                    await self._read(answer.pieces)
            except TimeoutError:
                raise Failed("the upstream was away") from None
            finally:
                self._limit = None

    def _judge(self, status: int, lists: bool) -> None:
        """Raise for an answer that is no stream, unless something else can be tried at once."""
        if status == UNKNOWN_VERSION and not lists:
            self._futile += 1
            if self._futile > FUTILE:
                self._listed = False
        if status in BUSY:
            raise Failed(f"the upstream answers {status}")
        if lists and self._streams and status not in (401, 403, 404, 405):
            # It does not know initial events, or has them switched off.
            self._streams = False
            return
        if not lists and status == 400:
            self._listed = False
            return
        raise Refused(status)

    async def _read(self, pieces: AsyncIterator[bytes]) -> None:
        async for piece in pieces:
            self._contact.answered()
            for at in range(0, len(piece), SLICE):
                part = piece[at : at + SLICE] if len(piece) > SLICE else piece
                _, complete, code, why = await run(self._native.read, part, pooled=self._lists_here)
                if complete is False:
                    raise Rewound
                if complete:
                    self.lists += 1
                    self._lists_here = False
                    self._loaded()
                self.heard = stopwatch()
                self._advanced()
                if code:
                    self._end(code, why)
                    return
                if at + SLICE < len(piece):
                    await asyncio.sleep(0)
        if self._lists_here:
            raise Failed("the list ended before its last object")

    def _end(self, code: int, why: str) -> None:
        """End a watch by an error that the upstream has sent. Raise Failed."""
        if code == GONE:
            self._listed = False
            return
        raise Failed(f"the upstream ended the watch: {code} {why}")

    async def _list(self) -> None:
        """Read the state page by page. Raise Failed and Refused."""
        self._native.begin(True)
        token, revision = "", 0
        while True:
            more = f"&continue={quote(token, safe='')}" if token else ""
            answer = await self._requests.get(f"{self.path}?limit={PAGE}{more}", PAGE_SECONDS)
            if answer.status in BUSY or (answer.status == GONE and token):
                raise Failed(f"the upstream answers {answer.status}")
            if answer.status != 200:
                raise Refused(answer.status)
            self._contact.answered()
            revision, token = await run(self._native.read_page, answer.body, pooled=True)
            if not token:
                break
        if not await run(self._native.complete, revision, pooled=True):
            raise Rewound
        self.lists += 1
        self.heard = stopwatch()
        self._loaded()
        self._advanced()
