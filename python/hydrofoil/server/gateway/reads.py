"""Requests that are answered from the view, and those that are not."""

from __future__ import annotations

import asyncio
from collections import Counter

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.clock import Clock, stopwatch
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Handler
from hydrofoil.endpoints.handlers.get import get
from hydrofoil.endpoints.handlers.list import list_
from hydrofoil.endpoints.handlers.watch import watch
from hydrofoil.endpoints.negotiate import negotiate
from hydrofoil.endpoints.params import parse
from hydrofoil.endpoints.watching import Watching
from hydrofoil.errors import ApiError
from hydrofoil.headers import ACCEPT
from hydrofoil.server.gateway.callers import Caller, Callers
from hydrofoil.server.gateway.client import Upstream
from hydrofoil.server.gateway.comparisons import Comparisons
from hydrofoil.server.gateway.identity import Identity
from hydrofoil.server.gateway.mirrors import Mirror, Mirrors
from hydrofoil.server.gateway.passing import WRITES, Passing
from hydrofoil.server.gateway.rights import Unreviewed
from hydrofoil.server.gateway.written import Written
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.errors import Behind, Unavailable

HANDLERS: dict[str, Handler] = {"get": get, "list": list_, "watch": watch}
LOAD_SECONDS = 5.0
"""How long a read waits for the first state of a resource."""
MOST_WATCHES = 100
"""The watches of a resource that may begin before the history here, each of which is one at the upstream. Further ones
begin anew by a list, which is answered here."""
WATCH_SECONDS = 3.0
"""How long a watch that begins with the present state waits for the view: at the upstream it would be one more watch,
which nobody shares."""
SORTED = frozenset(("flowcontrol.apiserver.k8s.io",))
"""Groups whose tables are in an order of their own."""


class Elsewhere(Exception):
    """A read that the upstream answers, with the version that the view lacks: 0 if it is not the view's fault."""

    def __init__(self, revision: int = 0) -> None:
        super().__init__()
        self.revision = revision


class Reads:
    """The route of a gateway: each request is answered from the view, or passed on."""

    def __init__(
        self,
        upstream: Upstream,
        callers: Callers,
        identity: Identity,
        mirrors: Mirrors,
        passing: Passing,
        comparisons: Comparisons,
        clock: Clock,
        *,
        opens: bool,
        stale: bool,
    ) -> None:
        """Take whether a resource may come into the view by its first read, `opens`, and whether reads without a
        version are answered while the upstream is away, `stale`."""
        self._upstream = upstream
        self._callers = callers
        self._identity = identity
        self._mirrors = mirrors
        self._passing = passing
        self._comparisons = comparisons
        self._clock = clock
        self._opens = opens
        self._stale = stale
        self._written = Written()
        self._watches: Counter[tuple[str, str]] = Counter()
        """The watches that began before the history here, by collection."""
        self.counts: Counter[tuple[str, str]] = Counter()
        """The reads of resources, by verb and by where they were answered."""

    async def __call__(self, context: Context) -> Answer:
        """Answer a request; an error is an answer, too."""
        try:
            return await self._answer(context)
        except errors.FAULTS as e:
            if isinstance(e, ConnectionError):
                raise
            return respond.failure(context, e)

    async def may(self, context: Context) -> bool:
        """Report whether the upstream allows a request that this server answers about itself. Raise ApiError 401."""
        try:
            return await self._identity.may(context, self._callers.find(context))
        except Unreviewed:
            return False

    async def _answer(self, context: Context) -> Answer:
        caller = self._callers.find(context)
        if (mirror := self._readable(context)) is not None:
            try:
                answer = await self._read(context, caller, mirror)
                self.counts[context.info.verb, "here"] += 1
                return answer
            except Elsewhere as e:
                if e.revision and (found := await self._share(context, caller, mirror, e.revision)) is not None:
                    return found
                self.counts[context.info.verb, "there"] += 1
        # The upstream decides on the rest by itself, and says what it serves in its own words.
        context.warnings.clear()
        self._count(context)
        user = await self._identity.acts_for(context, caller)
        answer = await self._passing.pass_on(context, user)
        if context.method in WRITES and answer.status < 300 and context.info.resourceful:
            self._written.add(caller.key, context.info.group, context.info.resource)
        return answer

    async def _share(self, context: Context, caller: Caller, mirror: Mirror, revision: int) -> Answer | None:
        """Answer a read together with those that ask the same; None if it has to be passed on alone."""
        collection = mirror.collection
        user = await self._identity.acts_for(context, caller)
        found = await self._passing.share(
            context, user, lambda: collection is not None and collection.revision >= revision
        )
        if found is not None:
            self.counts[context.info.verb, "there"] += 1
            context.counted = True
            return found
        if collection is None or collection is not mirror.collection:
            return None
        self._pin(context, collection.revision)
        try:
            answer = await self._handle(context, mirror)
        except (ApiError, Elsewhere):
            return None
        self.counts[context.info.verb, "here"] += 1
        return answer

    @staticmethod
    def _count(context: Context) -> None:
        """Let a request that is passed on count as one for its resource, as far as that is known."""
        info = context.info
        served = context.registry.catalog.find(info.group, info.version, info.resource) if info.resourceful else None
        if served is not None:
            context.resource = context.served = served
        context.verb, context.counted = info.verb, True

    def _readable(self, context: Context) -> Mirror | None:
        """Return the resource of a request that can be answered from the view."""
        info = context.info
        if context.method != "GET" or info.subresource or info.rest or info.verb not in HANDLERS:
            return None
        mirror = self._mirrors.find(info)
        if mirror is None or (mirror.served.namespaced and info.name and not info.namespace):
            return None
        return mirror if mirror.served.namespaced or not info.namespace else None

    async def _read(self, context: Context, caller: Caller, mirror: Mirror) -> Answer:
        """Answer from the view. Raise Elsewhere, and ApiError 503 while the upstream is away."""
        away = self._upstream.contact.away
        try:
            allowed = await self._identity.may(context, caller)
        except Unreviewed:
            allowed = False
        if not allowed:
            raise self._elsewhere()
        collection = await self._opened(mirror)
        context.resource = context.served = mirror.resource
        context.verb = context.info.verb
        context.params = parse(context.info.query)
        try:
            await self._freshen(context, caller, mirror, collection)
            away = away or self._upstream.contact.away
            return await self._handle(context, mirror)
        except ApiError as e:
            if e.code == 404 and context.verb == "get":
                context.counted = True
                raise
            if away or self._upstream.contact.away:
                raise self._upstream.unreachable() from None
            raise self._elsewhere() from None

    def _elsewhere(self, revision: int = 0) -> Exception:
        """Return what leaves a read to the upstream: the 503 while it is away."""
        return self._upstream.unreachable() if self._upstream.contact.away else Elsewhere(revision)

    async def _opened(self, mirror: Mirror) -> Collection:
        """Return the objects of a resource once they are loaded. Raise Elsewhere and ApiError 503."""
        collection = mirror.collection or (self._mirrors.open(mirror) if self._opens else None)
        if collection is None:
            raise self._elsewhere()
        if collection.loading is not None:
            if (feed := self._mirrors.feed(mirror)) is None or feed.problem:
                raise self._elsewhere()
            await self._clock.machine.wait(feed.tried, LOAD_SECONDS)
            # What follows the load happens in the next turn.
            await asyncio.sleep(0)
            if collection.loading is not None:
                raise self._elsewhere()
        mirror.use()
        return collection

    async def _freshen(self, context: Context, caller: Caller, mirror: Mirror, collection: Collection) -> None:
        """Bring the view to the version that a read needs. Raise Elsewhere, and ApiError 503 without the upstream.

        The handlers find a version in the parameters: the one that was asked for, or one as new as the upstream's.
        """
        params, info = context.params, context.info
        contact = self._upstream.contact
        given = params.get("resourceVersion", "")
        fresh = not given and not params.get("continue")
        if contact.away:
            if fresh and not self._stale:
                raise self._upstream.unreachable()
            context.warnings.append(f"upstream unreachable, data is {contact.age} s old")
            if fresh:
                self._pin(context, collection.revision)
            return
        number = self._written.find(caller.key, info.group, info.resource)
        if not fresh and (given != "0" or not number):
            feed = self._mirrors.feed(mirror)
            if given == "0" and feed is not None and feed.problem:
                raise Elsewhere
            return
        if params.get("resourceVersionMatch") and info.verb != "watch":
            raise Elsewhere
        revision = 0
        try:
            revision = await self._mirrors.log.ask(mirror.name)
            if collection.revision < revision and not self._comparisons.covers(mirror, collection, revision):
                await self._wait(mirror, collection, revision, info.verb)
        except (Behind, Unavailable):
            raise self._elsewhere(0 if info.verb == "watch" else revision) from None
        if number:
            self._written.settle(caller.key, info.group, info.resource, number)
        if fresh:
            self._pin(context, collection.revision)

    async def _wait(self, mirror: Mirror, collection: Collection, revision: int, verb: str) -> None:
        """Wait until the view is at a version, or is known to be the state there. Raise Behind."""
        end = stopwatch() + (WATCH_SECONDS if verb == "watch" else 0.0)
        while True:
            try:
                return await collection.wait(revision)
            except Behind:
                if (feed := self._mirrors.feed(mirror)) is not None:
                    feed.lag()
                # One object costs the upstream less than a comparison of all.
                comparison = None if verb == "get" else self._comparisons.begin(mirror, collection)
                if stopwatch() > end:
                    raise
            if comparison is not None:
                await asyncio.shield(comparison)
            if self._comparisons.covers(mirror, collection, revision):
                return None

    @staticmethod
    def _pin(context: Context, revision: int) -> None:
        """Set the version of a read that may have any of at least the present one."""
        # A watch begins with the present state in any case.
        context.params["resourceVersion"] = "0" if context.info.verb == "watch" else str(revision)

    async def _handle(self, context: Context, mirror: Mirror) -> Answer:
        resource = mirror.resource
        if resource.deprecation and resource.deprecates(""):
            context.common += respond.warning_lines([resource.deprecation])
        context.accepted = negotiate(
            context.headers.get(ACCEPT, ""),
            watchable=context.verb in ("list", "watch"),
            custom=resource.custom,
            cbor=context.parts.cbor,
            tabled=True,
        )
        if context.accepted.transform == "Table" and (resource.group in SORTED or resource.raw.get("later")):
            raise self._elsewhere()
        answer = await HANDLERS[context.verb](context)
        context.counted = True
        if isinstance(answer.stream, Watching):
            self._watch(context, mirror, answer.stream)
        return answer

    def _watch(self, context: Context, mirror: Mirror, body: Watching) -> None:
        """Bind a watch to its resource; leave one that begins before the history to the upstream. Raise Elsewhere."""
        if body.watch is not None:
            body.watch.subject = mirror.name
            return
        if body.error and not self._upstream.contact.away and self._watches[mirror.name] < MOST_WATCHES:
            self._watches[mirror.name] += 1

            def ended(_: object) -> None:
                self._watches[mirror.name] -= 1

            context.at_end(ended)
            raise Elsewhere
