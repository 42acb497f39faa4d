"""Flow schemas: the server itself reports whether their priority level exists."""

from __future__ import annotations

import asyncio
from collections.abc import ItemsView
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.session import apply_here
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategy import RowOrder, Strategy
from hydrofoil.registry.write import Write
from hydrofoil.watch.follow import Followed, Table
from hydrofoil.watch.hub import Hub
from hydrofoil.watch.queue import Key, Queue

GROUP, VERSION = "flowcontrol.apiserver.k8s.io", "v1"
TYPE = "Dangling"
MANAGER = "api-priority-and-fairness-config-consumer-v1"
Said = tuple[str, dict[str, Any]]
"""The level that a schema names, and its condition `Dangling`, empty if absent."""


def state_of_schema(schema: Stored) -> Said:
    """Return the level of a flow schema and its condition."""
    raw = orjson.loads(schema.json)
    conditions = raw.get("status", {}).get("conditions", ())
    return raw["spec"]["priorityLevelConfiguration"]["name"], next((c for c in conditions if c["type"] == TYPE), {})


PRECEDENCE = 2
"""The column of a flow schema's precedence."""


class Dangling:
    """The condition `Dangling` (`syncFlowSchemaStatuses` of apiserver `pkg/util/flowcontrol/apf_controller.go`).

    It follows schemas and levels, whichever client writes them; the write that makes it outdated waits for its update.
    """

    def __init__(self, registry: Registry, hub: Hub, clock: Clock) -> None:
        self._registry = registry
        self._clock = clock
        self.queue = Queue("the condition of flow schemas", self._tell, clock, registry.activity)
        self._schemas = registry.catalog.find(GROUP, VERSION, "flowschemas")
        levels = registry.catalog.find(GROUP, VERSION, "prioritylevelconfigurations")
        self._tables: tuple[Followed[Table[Said]], Followed[Table[bool]]] | None = None
        if self._schemas is not None and levels is not None:
            collection = registry.collection(self._schemas)
            schemas = Followed(collection, self._schemas.native, Table(state_of_schema), hub)
            named = Followed(registry.collection(levels), levels.native, Table(lambda _: True), hub)
            self._tables = schemas, named
            schemas.on_change(self._look)
            named.on_change(self._look)

    def _wrong(self) -> list[Key]:
        """Return the schemas whose condition is outdated."""
        if self._tables is None:
            return []
        schemas, levels = self._tables[0].state.within(""), self._tables[1].state.within("")
        right = {level: verdict(level, level in levels) for level, _ in schemas.values()}
        return [(name,) for name, (level, present) in schemas.items() if not right[level] <= present.items()]

    def _look(self) -> None:
        for key in self._wrong():
            self.queue.put(key)

    async def right(self) -> None:
        """Wait until the condition of every schema is up to date."""
        await asyncio.gather(*(self.queue.done(key) for key in self._wrong()))

    async def _tell(self, key: Key) -> bool:
        """Write the present condition of a schema."""
        if self._tables is None or self._schemas is None:
            return True
        (name,) = key
        schema = self._registry.collection(self._schemas).get(self._schemas.native, "", name)
        if schema is None:
            return True
        level, present = state_of_schema(schema)
        reported = dict(verdict(level, self._tables[1].state.get("", level) is not None))
        if reported.items() <= present.items():
            return True
        since = present.get("lastTransitionTime") if present.get("status") == reported["status"] else None
        config = orjson.dumps(config_of(name, reported | {"lastTransitionTime": since or self._clock.text()}))
        native, clock = self._schemas.native, self._clock.native

        def change(live: Stored) -> Draft:
            return apply_here(native.apply(clock, live, config, MANAGER, "status", force=True))[0]

        try:
            await self._registry.update(self._schemas, "", name, change, Write(subresource="status", patch=True))
        except errors.ApiError as e:
            # A deleted schema needs no condition; another server may have written it.
            return e.code in (404, 409, 422)
        return True

    async def close(self) -> None:
        """Stop the updates."""
        await self.queue.close()


def verdict(level: str, found: bool) -> ItemsView[str, str]:
    """Return the required condition without its time."""
    return {
        "type": TYPE,
        "status": "False" if found else "True",
        "reason": "Found" if found else "NotFound",
        "message": f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" '
        + ("and it exists" if found else "but there is no such object"),
    }.items()


def config_of(name: str, reported: dict[str, str]) -> dict[str, Any]:
    """Return the configuration to apply to a schema."""
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "FlowSchema",
        "metadata": {"name": name},
        "status": {"conditions": [reported]},
    }


class FlowControlStrategy(Strategy):
    """Make each write of a flow schema or a priority level wait for the conditions."""

    def __init__(self, registry: Registry, dangling: Dangling) -> None:
        super().__init__(registry)
        self._dangling = dangling

    def row_order(self, resource: Resource) -> RowOrder | None:
        """Return the order of precedence, as upstream's printer has flow schemas."""
        if resource.plural != "flowschemas":
            return None
        return lambda row: (row["cells"][PRECEDENCE], row["cells"][0])

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        await self._dangling.right()
