"""Priority and fairness of one server (apiserver `pkg/util/flowcontrol/apf_controller.go`)."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import orjson

from hydrofoil.clock import Clock
from hydrofoil.engine import Flow, FlowCounts, Histogram, Queues, Region, Stored, Work
from hydrofoil.fairness import limits
from hydrofoil.fairness.allocation import Claim, allocate
from hydrofoil.fairness.dealer import flow_hash, hand
from hydrofoil.fairness.dispatcher import Dispatcher
from hydrofoil.fairness.estimate import CHANGES, ONE, estimate, is_wide, most_seats
from hydrofoil.fairness.level import Level
from hydrofoil.fairness.limits import LevelConfig, config_of, round_half_away, seats_of, share_sum
from hydrofoil.fairness.schema import Schema, mandatory, schema_of
from hydrofoil.pool import keep_running
from hydrofoil.registry.objects import Objects
from hydrofoil.request import RequestInfo, User
from hydrofoil.watch.follow import Followed, Table
from hydrofoil.watch.hub import Hub

GROUP, VERSION = "flowcontrol.apiserver.k8s.io", "v1"
PERIOD = 10.0
"""The seconds between two adjustments of borrowed seats."""
WATCHED = (0.0, 1.0, 10.0, 100.0, 1000.0, 10000.0)
"""The buckets of numbers of watchers."""
LOOKS = 6
"""Adjustments until missing objects are made again: upstream looks once a minute."""
MOST_USERS, MOST_KINDS = 4096, 1024
"""Users, and kinds of requests of each, whose level is kept."""
Found = tuple[Level, Flow]
Kinds = dict[tuple[str, ...], Found]


class Fairness:
    """The level of each request, and the seats of each level."""

    def __init__(
        self,
        objects: Objects,
        hub: Hub,
        clock: Clock,
        total: int,
        rebuilt: Callable[[], None] = lambda: None,
        region: Region | None = None,
    ) -> None:
        """`total` are the seats of the server; `rebuilt` is called when requests may have another level or flow.

        `region` is the memory of all processes of the server, which have the seats in common.
        """
        self._region = region
        self._rebuilt = rebuilt
        self.total = total
        self.clock = clock
        self._objects = objects
        self.levels: dict[str, Level] = {}
        self.schemas: list[Schema] = []
        self.counts: dict[tuple[str, str], FlowCounts] = {}
        """The counts by schema and level."""
        self.watched: dict[tuple[str, str], Histogram] = {}
        """The watchers of each change whose work is estimated, by level and schema."""
        self.fraction = 0.0
        """The fair fraction of the last adjustment."""
        self.dispatcher = Dispatcher(self._queues, clock, has_others=region is not None)
        self._users: dict[int, tuple[User, Kinds, Found | None]] = {}
        """By user: the levels of kinds of requests, or one for all of them."""
        self._task: asyncio.Task[None] | None = None
        self.bring_back: Callable[[], Awaitable[None]] | None = None
        """Make missing objects again."""
        self._followed: tuple[Followed[Table[Schema]], Followed[Table[LevelConfig | None]]] | None = None
        schemas = objects.catalog.find(GROUP, VERSION, "flowschemas")
        levels = objects.catalog.find(GROUP, VERSION, "prioritylevelconfigurations")
        if schemas is not None and levels is not None:
            first = Followed(objects.collection(schemas), schemas.native, Table(_schema), hub)
            second = Followed(objects.collection(levels), levels.native, Table(_config), hub)
            first.on_change(self.rebuild)
            second.on_change(self.rebuild)
            self._followed = first, second
        self.rebuild()

    def _queues(self) -> list[Queues]:
        return [level.queues for level in self.levels.values()]

    def rebuild(self) -> None:
        """Take the present objects; requests that wait or run keep their level."""
        schemas: Iterable[Schema] = ()
        configs: dict[str, LevelConfig] = {}
        if self._followed is not None:
            schemas = self._followed[0].state.within("").values()
            found = self._followed[1].state.within("")
            configs = {name: config for name, config in found.items() if config is not None}
        for required in (limits.EXEMPT, limits.CATCH_ALL):
            configs.setdefault(required.name, required)
        for name, level in list(self.levels.items()):
            if name not in configs:
                level.leaving = True
                if level.idle:
                    del self.levels[name]
                else:
                    configs[name] = level.config
        shares = share_sum(configs.values())
        for name, config in configs.items():
            level = self.levels.get(name) or self._new_level(name, config)
            self.levels[name] = level
            level.configure(config, seats_of(config, self.total, shares))
        usable = {s.name: s for s in schemas if s.level in configs and not self.levels[s.level].leaving}
        for schema in mandatory():
            usable.setdefault(schema.name, schema)
        self.schemas = sorted(usable.values(), key=lambda s: (s.precedence, s.name))
        self._users.clear()
        self._rebuilt()
        self.adjust(look=False)
        room = sum(config.queues * config.length for config in configs.values())
        self.dispatcher.native.limit(self.total, room)

    def _new_level(self, name: str, config: LevelConfig) -> Level:
        """Return a level without requests."""
        level = Level(config, self.dispatcher.native)
        if self._region is not None and not config.exempt:
            level.queues.share(self._region, f"level {name}")
        return level

    def classify(self, user: User, info: RequestInfo) -> Found:
        """Return the level and the flow of a request; kept until a schema or level changes."""
        kept = self._users.get(id(user))
        if kept is None or kept[0] is not user:
            if len(self._users) >= MOST_USERS:
                self._users.clear()
            first = self.schemas[0]
            always = self._classified(user, info) if first.covers(user) else None
            kept = self._users[id(user)] = (user, {}, always)
        if kept[2] is not None:
            return kept[2]
        key: tuple[str, ...]
        if info.resourceful:
            key = (info.verb, info.resource, info.namespace or info.scope, info.subresource, info.group)
        else:
            key = (info.verb, info.path)
        found = kept[1].get(key)
        if found is None:
            if len(kept[1]) >= MOST_KINDS:
                kept[1].clear()
            found = kept[1][key] = self._classified(user, info)
        return found

    def _classified(self, user: User, info: RequestInfo) -> Found:
        schema = next((s for s in self.schemas if s.match(user, info)), None)
        if schema is None:
            schema = next(s for s in self.schemas if s.name == "catch-all")
        level = self.levels[schema.level]
        counts = self.counts.get((schema.name, level.config.name))
        if counts is None:
            counts = self.counts[schema.name, level.config.name] = FlowCounts()
        config = level.config
        distinguisher = ""
        cards: tuple[int, ...] = (0,)
        if config.queues > 1:
            distinguisher = schema.distinguisher(user, info)
            cards = hand(flow_hash(schema.name, distinguisher), config.queues, config.hand)
        lines = f"X-Kubernetes-PF-FlowSchema-UID: {schema.uid}\r\n"
        lines += f"X-Kubernetes-PF-PriorityLevel-UID: {config.uid}\r\n"
        return level, Flow(counts, schema.name, distinguisher, cards, lines.encode())

    def work(self, level: Level, flow: Flow, info: RequestInfo) -> Work:
        """Return the estimated work of a request of a level with a limit."""
        if not info.resourceful or info.verb == "get":
            return ONE
        watched = self._watchers(level, flow) if info.verb in CHANGES else None
        return estimate(self._objects, info, level.most, watched)

    def list_seats(self, level: Level, info: RequestInfo) -> int:
        """Return the most seats that lists like one take; 0 if they take one, whatever there is."""
        return most_seats(level.most) if info.verb == "list" and is_wide(info) else 0

    def _watchers(self, level: Level, flow: Flow) -> Histogram:
        key = (level.config.name, flow.schema)
        found = self.watched.get(key)
        if found is None:
            found = self.watched[key] = Histogram(WATCHED)
        return found

    def adjust(self, *, look: bool = True) -> None:
        """Lend seats of levels that need few to those that need more (`updateBorrowing`)."""
        limited = [level for level in self.levels.values() if not level.config.exempt]
        if look:
            for level in self.levels.values():
                level.queues.look()
        total = sum(level.seats.nominal for level in self.levels.values())
        exempt = [level for level in self.levels.values() if level.config.exempt]
        left = total - sum(level.wanted for level in exempt)
        for level in exempt:
            level.limit(level.wanted)
        least, wanted = sum(level.seats.least for level in limited), sum(level.wanted for level in limited)
        self.fraction = 0.0
        if left <= least:
            seats = [float(level.seats.least) for level in limited]
        elif left <= wanted:
            part = (left - least) / (wanted - least)
            seats = [level.seats.least + (level.wanted - level.seats.least) * part for level in limited]
        else:
            claims = []
            for level in limited:
                level.target = max(level.wanted, level.queues.smoothed)
                claims.append(Claim(level.target, level.wanted, level.seats.most))
            try:
                seats, self.fraction = allocate(total, claims)
            except ValueError:
                seats = [float(level.current) for level in limited]
        for level, count in zip(limited, seats, strict=True):
            level.limit(round_half_away(count))

    async def start(self, bring_back: Callable[[], Awaitable[None]] | None = None) -> None:
        """Take the present objects, and begin to adjust; `bring_back` is called once a minute."""
        if self._followed is not None:
            for followed in self._followed:
                await followed.fresh()
        self.rebuild()
        self.bring_back = bring_back
        self._task = asyncio.create_task(
            keep_running(self._adjusting, "the division of seats", self.clock), name="fairness"
        )

    async def _adjusting(self) -> None:
        for turn in itertools.count(1):
            await self.clock.machine.sleep(PERIOD)
            if self.bring_back is not None and turn % LOOKS == 0:
                await self.bring_back()
            if any(level.leaving and level.idle for level in self.levels.values()):
                self.rebuild()
            self.adjust()

    async def close(self) -> None:
        """Stop adjusting."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None


def _schema(stored: Stored) -> Schema:
    raw: dict[str, Any] = orjson.loads(stored.json)
    return schema_of(raw)


def _config(stored: Stored) -> LevelConfig | None:
    return config_of(orjson.loads(stored.json))
