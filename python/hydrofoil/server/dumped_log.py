"""`serve --from`: a log in memory that begins with the objects of a dump, at their versions."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple

import orjson

from hydrofoil import engine
from hydrofoil.apis.catalog import Catalog
from hydrofoil.apis.releases.release import Release
from hydrofoil.clock import Chance, Clock
from hydrofoil.dumps.manifest import DumpError
from hydrofoil.dumps.object import Broken, DumpedObject
from hydrofoil.dumps.order import DEFINITION, DumpIndex
from hydrofoil.dumps.source import open_source
from hydrofoil.engine import Change, ConversionError, DecodeError, ResourceType, Stored, View
from hydrofoil.server.completion import complete_definition, complete_object, missing_services
from hydrofoil.storage.errors import Refused, Unopened
from hydrofoil.storage.local import LocalLog, first_revision
from hydrofoil.storage.log import Name, key

LOG = logging.getLogger("hydrofoil")
SHOWN = 20
"""The lines of the log on what a dump has and the server cannot show."""
READ_ONLY = "this server is read-only"
FIRST = 2
"""The version of a dump that names none: revision 1 is the empty store."""


class Contents(NamedTuple):
    """What a dump has."""

    objects: DumpIndex
    revision: int
    """The highest version in it."""
    problems: list[str]


def read_dump(place: str) -> Contents:
    """Read a dump. Raise DumpError."""
    index, problems, revision = DumpIndex(), list[str](), FIRST
    with open_source(place) as source:
        if source.manifest is not None and source.manifest.resource_version.isdecimal():
            revision = max(revision, int(source.manifest.resource_version))
        for piece in source.pieces():
            if isinstance(piece, Broken):
                problems.append(f"{piece.source}:{piece.line}: {piece.reason}")
            else:
                index.add(piece)
                revision = max(revision, piece.version)
    return Contents(index, revision, problems)


class DumpedLog(LocalLog):
    """The objects of a dump; a read-only one takes no write at all."""

    def __init__(
        self, place: str, release: Release, chance: Chance, runtime_config: dict[str, bool], *, read_only: bool
    ) -> None:
        """Take the resources that are served, beside those that may be in a dump."""
        super().__init__()
        self._runtime_config = runtime_config
        self._place = place
        self._release = release
        self._chance = chance
        self._read_only = read_only
        # Nobody ends events, then.
        self.leases = read_only

    async def open(self, view: View, clock: Clock, advanced: Callable[[], None]) -> None:
        """Load the dump. Raise Unopened with one line."""
        try:
            contents = await asyncio.to_thread(read_dump, self._place)
        except DumpError as e:
            raise Unopened(f"{e} (--from takes a dump)") from None
        if contents.revision >= 1 << 63:
            raise Unopened(f"{self._place}: a version of it is too large (--from takes a dump)")
        # Clients of an earlier run know versions of that: those of a server that writes are above them.
        start = contents.revision if self._read_only else max(first_revision(clock), contents.revision)
        self._native = engine.Local(view, start)
        self._view = view
        self._advanced = advanced
        filling = Filling(view, Catalog({"api/all": True}, self._release), clock, self._chance, start)
        served = Catalog(self._runtime_config, self._release) if self._read_only else None
        problems = await asyncio.to_thread(filling.fill, contents, served)
        for problem in problems[:SHOWN]:
            LOG.warning("%s: not served: %s", self._place, problem)
        if len(problems) > SHOWN:
            LOG.warning("%s: not served: and %d more", self._place, len(problems) - SHOWN)

    async def commit(self, change: Change) -> Stored:
        if self._read_only:
            raise Refused(READ_ONLY)
        return await super().commit(change)


class Filling:
    """The load of a dump into a view without objects."""

    def __init__(self, view: View, catalog: Catalog, clock: Clock, chance: Chance, start: int) -> None:
        """`start` is the revision of the view, and that of objects whose version is unknown."""
        self._view = view
        self._catalog = catalog
        self._clock = clock
        self._chance = chance
        self._start = start
        self._types: dict[tuple[str, str], tuple[Name, ResourceType]] = {
            (resource.api_version, resource.kind): (resource.storage, resource.native)
            for resource in catalog.resources()
        }
        self._states: defaultdict[str, list[tuple[int, Change]]] = defaultdict(list)

    def fill(self, contents: Contents, served: Catalog | None) -> list[str]:
        """Load all objects; return a line on each that cannot be. It blocks.

        `served` are the resources of a server that writes nothing: what each server has is added here.
        """
        completes = served is not None
        problems, unknown = list(contents.problems), Counter[str]()
        objects = contents.objects.objects()
        definitions = [found for found in objects if (found.group, found.kind) == DEFINITION]
        for found in definitions:
            self._add(found, problems, unknown, completes=completes)
        for found in objects:
            if (found.group, found.kind) != DEFINITION:
                self._add(found, problems, unknown, completes=completes)
        if served is not None:
            for content in missing_services(served, objects, definitions):
                one = DumpedObject("", 0, content["apiVersion"], content["kind"], "", "", "", 0, (), b"")
                one.name, one.json = content["metadata"]["name"], orjson.dumps(content)
                self._add(one, problems, unknown, completes=completes)
        for name, states in self._states.items():
            self._view.load(name, states, self._start)
        return [*problems, *(f"{count} objects of the unknown kind {kind}" for kind, count in unknown.items())]

    def _add(self, found: DumpedObject, problems: list[str], unknown: Counter[str], *, completes: bool) -> None:
        known = self._types.get((found.api_version, found.kind))
        if known is None:
            unknown[f"{found.kind} of {found.api_version}"] += 1
            return
        (group, plural), native = known
        try:
            draft, _ = native.decode(found.json, "json")
            complete_object(draft, self._clock, self._chance)
            is_definition = (found.group, found.kind) == DEFINITION
            if is_definition and completes:
                complete_definition(draft, found.content(), self._clock)
            revision = found.version or self._start
            if is_definition:
                self._define(draft.preview(revision))
            shard = self._view.shard(key((group, plural)))
            self._states[key((group, plural))].append((revision, Change.create(shard, draft)))
        except (DecodeError, ConversionError, ValueError) as e:
            problems.append(f"{found.source}:{found.line}: {getattr(e, 'message', e)}")

    def _define(self, stored: Stored) -> None:
        """Add the types of a definition. Raise ConversionError, DecodeError or ValueError."""
        spec = orjson.loads(stored.json)["spec"]
        for version, made in self._catalog.native.custom(stored):
            # Custom resources have collections of their own (`Resource.storage`).
            name = spec["group"], f"{spec['names']['plural']}.{spec['group']}"
            self._types[f"{spec['group']}/{version}", spec["names"]["kind"]] = name, made
