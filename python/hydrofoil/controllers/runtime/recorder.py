"""Events about objects, as client-go's recorder writes them (`tools/record/event.go`)."""

from __future__ import annotations

import logging

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.runtime.correlator import Correlated, Correlator, Event
from hydrofoil.controllers.runtime.queue import WorkQueue
from hydrofoil.controllers.runtime.writes import Writes
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.store import Registry
from hydrofoil.request import User
from hydrofoil.watch.activity import Activity
from hydrofoil.watch.queue import Key

LOG = logging.getLogger("hydrofoil")
NORMAL, WARNING = "Normal", "Warning"
"""The types of events."""
TRIES = 12
"""How often an event is written before it is given up (`maxTriesPerEvent`)."""
MANAGER = "kube-controller-manager"
Reference = dict[str, str]


def reference_to(resource: Resource, stored: Stored) -> Reference:
    """Return what an event names its object by (`tools/reference/ref.go`)."""
    found = {
        "kind": resource.kind,
        "namespace": stored.namespace,
        "name": stored.name,
        "uid": stored.uid,
        "apiVersion": resource.api_version,
        "resourceVersion": str(stored.revision),
    }
    return {name: value for name, value in found.items() if value}


class EventRecorder:
    """Write events of one component, without making it wait.

    An occurrence is correlated at once; what results is written by a queue, whose key is what its occurrences share. So
    those that come before the first write are written with it, and the count of an event never goes back.
    """

    def __init__(self, registry: Registry, writes: Writes, activity: Activity, component: str, user: User) -> None:
        self._registry = registry
        self._writes = writes
        self._component = component
        self._user = user
        self._correlator = Correlator(registry.clock)
        self._pending: dict[Key, Correlated] = {}
        self._queue = WorkQueue(f"events of {component}", self._write, registry.clock, activity)

    def record(self, about: Reference, kind: str, reason: str, message: str) -> None:
        """Record an occurrence; `kind` is NORMAL or WARNING."""
        if self._registry.catalog.find("", "v1", "events") is None:
            return
        moment = self._registry.clock.text()
        # Upstream's name has the time, which may stand still here.
        mark = f"{self._registry.chance.bits(64):016x}"
        event: Event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{about['name']}.{mark}", "namespace": about.get("namespace") or "default"},
            "involvedObject": about,
            "reason": reason,
            "message": message,
            "source": {"component": self._component},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
            "type": kind,
            "reportingComponent": self._component,
        }
        found = self._correlator.correlate(event)
        if found is None:
            return
        waiting = self._pending.get(found.key)
        if waiting is not None:
            found = found._replace(is_known=waiting.is_known)
        self._pending[found.key] = found
        self._queue.put(found.key)

    async def _write(self, key: Key) -> bool:
        """Write an event; a refusal is final, as upstream's (`recordEvent`), and anything else is tried again."""
        found = self._pending.pop(key, None)
        events = self._registry.catalog.find("", "v1", "events")
        if found is None or events is None or self._queue.failures(key) >= TRIES:
            return True
        try:
            if not (found.is_known and await self._count(events, found.event)):
                await self._create(events, found.event)
        except ApiError as e:
            LOG.info("no event for %s: %s", found.event["involvedObject"]["name"], e.message)
            self._correlator.forget(key)
        except BaseException:
            # Unless there is a later state of it by now.
            self._pending.setdefault(key, found)
            raise
        return True

    async def _create(self, events: Resource, event: Event) -> None:
        namespace = event["metadata"]["namespace"]
        body = orjson.dumps(event)
        write = self._writes.write(events, namespace, manager=MANAGER, user=self._user)
        if self._registry.create_at_once(events, namespace, body, write) is None:
            draft, _ = events.native.decode(body, "json")
            await self._registry.create(events, namespace, draft, write)

    async def _count(self, events: Resource, event: Event) -> bool:
        """Write the count, the message and the time of an event; report whether it still exists."""
        namespace, name = event["metadata"]["namespace"], event["metadata"]["name"]

        def change(old: Stored) -> Draft:
            draft = old.thaw()
            for member in ("count", "message", "lastTimestamp"):
                draft.set([member], orjson.dumps(event[member]))
            return draft

        write = self._writes.write(events, namespace, name, manager=MANAGER, user=self._user)
        try:
            if self._registry.update_at_once(events, namespace, name, change, write) is None:
                await self._registry.update(events, namespace, name, change, write)
        except ApiError as e:
            if e.code != 404:
                raise
            return False
        return True

    async def close(self) -> None:
        """Stop writing."""
        await self._queue.close()
