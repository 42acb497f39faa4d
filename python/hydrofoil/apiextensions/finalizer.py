"""The end of the instances of definitions that go (apiextensions-apiserver `pkg/controller/finalizer`)."""

from __future__ import annotations

import logging

import orjson

from hydrofoil import engine
from hydrofoil.apiextensions import naming
from hydrofoil.apiextensions.naming import Change, Condition, Definition
from hydrofoil.apiextensions.served import Served
from hydrofoil.apiextensions.status import FINALIZER, Definitions, going, read
from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.custom import condition, holds
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.write import Write
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.queue import Key, Queue

LOG = logging.getLogger("hydrofoil")
SEEN_SECONDS = 0.15
"""How long a definition that others hold is seen to be terminating, as upstream's controller takes to get to it."""
WIDTH = 8
"""How many definitions are cleaned up after beside each other."""
PROGRESS: Condition = ("Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
FAILED = "InstanceDeletionFailed"


class Finalizer:
    """Deletes the instances of definitions that are being deleted, and lets these go then.

    Safe to run in several servers over one log: who comes later finds nothing left to do.
    """

    def __init__(self, definitions: Definitions, served: Followed[Served], clock: Clock) -> None:
        self._definitions = definitions
        self._registry = definitions.registry
        self._served = served
        self._clock = clock
        self._queue = Queue("the clean-up of definitions", self._work, clock, width=WIDTH)
        self._held: set[str] = set()
        """Definitions that wait for instances, which finalizers may hold."""

    def put(self, name: str) -> None:
        """Have a definition cleaned up after."""
        self._queue.put((name,))

    def instance_gone(self, name: str) -> None:
        """Look again at a definition that waits for its instances."""
        if name in self._held:
            self.put(name)

    async def close(self) -> None:
        """Work no more."""
        await self._queue.close()

    async def _work(self, key: Key) -> bool:
        name = key[0]
        self._held.discard(name)
        stored = self._definitions.get(name)
        if stored is None or not going(definition := await read(stored)):
            return True
        await self._definitions.write(name, begun)
        ended: Condition = ("Terminating", "False", "NeverEstablished", "resource was never established")
        if holds(definition, "Established"):
            await self._served.state.settled(name)
            instances = self._served.state.instances(name)
            if instances is None or not await self._emptied(instances, name):
                return False
            ended = ("Terminating", "False", "InstanceDeletionCompleted", "removed all instances")
        if len(definition["metadata"]["finalizers"]) > 1:
            await self._clock.sleep(SEEN_SECONDS)

        def finish(draft: Draft, clock: Clock) -> None:
            naming.put(draft, ended, clock)
            kept = [f for f in draft.lifecycle()[3] if f != FINALIZER]
            draft.set(["metadata", "finalizers"], orjson.dumps(kept) if kept else None)

        # While others hold it, objects may be created again: its condition says so.
        await self._definitions.write(name, lambda _, found: finish if going(found) else None)
        return True

    async def _emptied(self, instances: Resource, name: str) -> bool:
        """Delete all instances; whether none is left: finalizers may hold some, and some may not be readable."""
        collection = self._registry.collection(instances)
        if not collection.ready():
            await collection.wait()
        if not collection.stats().objects:
            return True
        try:
            async for old in self._registry.walk(instances):
                try:
                    await self._registry.delete(instances, old.namespace, old.name, DeleteOptions(), Write())
                except ApiError as e:
                    if e.code not in (404, 409):
                        LOG.warning("%s: %s", instances.plural, e.message)
        except engine.ConversionError as e:
            kind = f"{instances.api_version}, Kind={instances.kind}"
            why = f"could not list instances: storage is (re)initializing: failed to list {kind}: {e.args[1]}"
            failed: Condition = ("Terminating", "True", FAILED, why)
            await self._definitions.write(name, lambda _, found: told(found, failed))
            return False
        if collection.stats().objects:
            self._held.add(name)
            return False
        return True


def told(definition: Definition, verdict: Condition) -> Change | None:
    """What changes when a condition is to stand as given."""
    return None if naming.same(definition, verdict) else lambda draft, clock: naming.put(draft, verdict, clock)


def begun(_: Stored, definition: Definition) -> Change | None:
    """What changes when the deletion of instances begins; one that failed before is told as that until it succeeds."""
    found = condition(definition, "Terminating")
    if not going(definition) or (found is not None and (found["status"], found["reason"]) == ("True", FAILED)):
        return None
    return told(definition, PROGRESS)
