"""The resources that a gateway serves: built-in ones by discovery, custom ones by their definitions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from hashlib import sha256

import orjson

from hydrofoil.apiextensions.resources import holds, resources
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.clock import Clock
from hydrofoil.engine import Stored
from hydrofoil.errors import FAULTS
from hydrofoil.pool import run
from hydrofoil.server.gateway.client import Upstream
from hydrofoil.server.gateway.discovery import READ, Discovery, Object
from hydrofoil.server.gateway.mirrors import Key, Mirrors
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.upstream.requests import Failed
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

LOG = logging.getLogger("hydrofoil")
REFRESH_SECONDS = 60.0
DEFINITIONS = ("apiextensions.k8s.io", "v1", "customresourcedefinitions")
EVENTS = ("events.k8s.io", "events")
"""The same objects as those of the core group: they are loaded twice only for those who ask."""


class Definitions:
    """The custom resource definitions of the upstream, as a state that is read once."""

    def __init__(self) -> None:
        self.present: dict[str, Stored] = {}
        self._changed: dict[str, None] = {}

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace all definitions."""
        found = {stored.name: stored for stored in objects}
        self._changed |= dict.fromkeys((*self.present, *found))
        self.present = found

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        if new is not None:
            self.present[new.name] = new
            self._changed[new.name] = None
        elif old is not None:
            self.present.pop(old.name, None)
            self._changed[old.name] = None

    async def settle(self) -> None:
        """Return at once: nothing is pending."""

    def changed(self) -> list[str]:
        """Return the names of those that changed since the last call."""
        changed, self._changed = self._changed, {}
        return list(changed)


class Resources:
    """The resources of the upstream, kept up to date."""

    def __init__(
        self,
        catalog: Catalog,
        mirrors: Mirrors,
        upstream: Upstream,
        hub: Hub,
        clock: Clock,
        opens: Callable[[Resource], bool],
    ) -> None:
        """Take what tells whether a resource is in the view from the start on."""
        self._catalog = catalog
        self._mirrors = mirrors
        self._upstream = upstream
        self._discovery = Discovery(catalog, upstream)
        self._hub = hub
        self._clock = clock
        self._opens = opens
        self._builtin: set[Key] = set()
        self._custom: dict[str, tuple[bytes, list[Key]]] = {}
        """The state in which a definition is served, and its resources."""
        self._followed: Followed[Definitions] | None = None
        self._collection: Collection | None = None
        """The definitions that are followed; others once their versions have gone back."""
        self._changes = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.complete = asyncio.Event()
        """Set once the built-in resources are known."""

    def start(self) -> None:
        """Begin to follow the upstream."""
        self._tasks = [
            asyncio.create_task(self._keep_refreshing(), name="discovery of the upstream"),
            asyncio.create_task(self._keep_defining(), name="definitions of the upstream"),
        ]

    async def close(self) -> None:
        """Stop."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._followed is not None:
            self._followed.end()

    async def _keep_refreshing(self) -> None:
        contact = self._upstream.contact
        while True:
            try:
                found = await self._discovery.discover()
                known = self._known().keys() | {key for _, keys in self._custom.values() for key in keys}
                self._take(found, {} if found is None else await self._discovery.find_later(found, known))
                self.complete.set()
                wait = REFRESH_SECONDS
            except Failed:
                wait = 1.0
            except FAULTS:
                LOG.exception("the discovery of the upstream failed")
                wait = REFRESH_SECONDS
            await self._clock.machine.wait(contact.changed, wait)

    def _known(self) -> dict[Key, Resource]:
        return {(r.group, r.version, r.plural): r for r in self._catalog.resources() if READ.issubset(r.verbs)}

    def _take(self, found: dict[Key, Object] | None, later: dict[Key, Resource]) -> None:
        """Serve the built-in resources of both, and those of a later release."""
        known = self._known()
        served = known.keys() if found is None else {key for key in known if key in found}
        known, served = known | later, served | later.keys()
        for key in self._builtin - served:
            self._mirrors.remove(key)
        opened = {(key[0], key[2]) for key in self._builtin & served}
        # The stored version first; the others are loaded for those who read them.
        fresh = [key for key in known if key in served and key not in self._builtin]
        for key in sorted(fresh, key=lambda key: not is_stored(known[key])):
            mirror = self._mirrors.add(known[key])
            again = (key[0], key[2]) in opened or (key[0], key[2]) == EVENTS
            opened.add((key[0], key[2]))
            if key == DEFINITIONS or (not again and self._opens(known[key])):
                self._mirrors.open(mirror)
        self._builtin = set(served)
        self._follow_definitions()

    def _follow_definitions(self) -> None:
        mirror = self._mirrors.get(DEFINITIONS)
        if mirror is None or mirror.collection is None or mirror.collection is self._collection:
            return
        if self._followed is not None:
            self._followed.end()
        self._collection = mirror.collection
        self._followed = Followed(mirror.collection, mirror.resource.native, Definitions(), self._hub)
        self._followed.on_change(self._changes.set)

    async def _keep_defining(self) -> None:
        while True:
            await self._changes.wait()
            self._changes.clear()
            if self._followed is None:
                continue
            state = self._followed.state
            for name in state.changed():
                try:
                    await self._define(name, state.present.get(name))
                except FAULTS:
                    LOG.exception("the objects of %s are read from the upstream", name)

    async def _define(self, name: str, stored: Stored | None) -> None:
        """Serve the resources of a definition, or no more."""
        definition: Object = {}
        state = b""
        if stored is not None:
            definition = orjson.loads(stored.json)
            if holds(definition, "Established"):
                parts = [definition["spec"], definition["status"]["acceptedNames"], definition["metadata"]["uid"]]
                state = sha256(orjson.dumps(parts)).digest()
        before, keys = self._custom.get(name, (b"", []))
        if state == before:
            return
        for key in keys:
            self._mirrors.remove(key)
        self._custom.pop(name, None)
        if not state or stored is None:
            return
        natives = dict(await run(self._catalog.native.custom, stored, pooled=True))
        keys = []
        for number, resource in enumerate(resources(definition, natives, None)):
            mirror = self._mirrors.add(resource)
            keys.append((resource.group, resource.version, resource.plural))
            if number == 0 and self._opens(resource):
                self._mirrors.open(mirror)
        self._custom[name] = (state, keys)


def is_stored(resource: Resource) -> bool:
    """Report whether objects are stored in the version of a resource."""
    stored = resource.storage_version
    return stored is not None and stored[:2] == (resource.group, resource.version)


def choice(text: str) -> Callable[[Resource], bool]:
    """Return which resources are in the view from the start on, by the value of `--upstream-cache`."""
    if text == "all":
        return lambda _: True
    if text == "on-demand":
        return lambda _: False
    names = {name.strip() for name in text.split(",")}

    def named(resource: Resource) -> bool:
        return resource.plural in names or f"{resource.plural}.{resource.group}" in names

    return named
