"""Flow schemas: the server itself tells whether the priority level that they name exists."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategies.base import Strategy, now
from hydrofoil.registry.write import Write

GROUP, VERSION = "flowcontrol.apiserver.k8s.io", "v1"
MANAGER = "api-priority-and-fairness-config-consumer-v1"


class FlowControlStrategy(Strategy):
    """The condition `Dangling` (`syncFlowSchemaStatuses` of apiserver `pkg/util/flowcontrol/apf_controller.go`)."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry)
        self.registry = registry

    async def _tell(self, schema: Stored) -> None:
        schemas = self.registry.catalog.find(GROUP, VERSION, "flowschemas")
        levels = self.registry.catalog.find(GROUP, VERSION, "prioritylevelconfigurations")
        if not schemas or not levels:
            return
        raw = orjson.loads(schema.json)
        level: str = raw["spec"]["priorityLevelConfiguration"]["name"]
        found = self.registry.collection(levels).get(levels.native, "", level) is not None
        condition = {
            "type": "Dangling",
            "status": "False" if found else "True",
            "reason": "Found" if found else "NotFound",
            "message": f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" '
            + ("and it exists" if found else "but there is no such object"),
        }
        present: dict[str, Any] = next(
            (c for c in raw.get("status", {}).get("conditions", ()) if c["type"] == "Dangling"), {}
        )
        if condition.items() <= present.items():
            return
        same = present.get("status") == condition["status"]
        since = present.get("lastTransitionTime") if same else None
        condition["lastTransitionTime"] = since or orjson.loads(now(self.registry.clock))
        config = orjson.dumps(self._config(schema.name, condition))

        def change(live: Stored) -> Draft:
            return schemas.native.apply(self.registry.clock.native, live, config, MANAGER, "status", force=True)[0]

        # A schema that is gone again needs no condition.
        with suppress(errors.ApiError):
            await self.registry.update(schemas, "", schema.name, change, Write(subresource="status"), patch=True)

    @staticmethod
    def _config(name: str, condition: dict[str, Any]) -> dict[str, Any]:
        return {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "FlowSchema",
            "metadata": {"name": name},
            "status": {"conditions": [condition]},
        }


class FlowSchemaStrategy(FlowControlStrategy):
    """Every write of a flow schema is looked at."""

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        if new is not None:
            await self._tell(new)


class PriorityLevelStrategy(FlowControlStrategy):
    """A level that comes or goes changes what is said of the schemas that name it."""

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        if old is None or new is None:
            await self._tell_all()

    async def _tell_all(self) -> None:
        schemas = self.registry.catalog.find(GROUP, VERSION, "flowschemas")
        for schema in self.registry.all(schemas) if schemas else ():
            await self._tell(schema)
