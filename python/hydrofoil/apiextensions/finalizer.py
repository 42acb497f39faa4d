"""Removal of the instances of deleted definitions (apiextensions-apiserver `pkg/controller/finalizer`)."""

from __future__ import annotations

import logging

import orjson

from hydrofoil import engine
from hydrofoil.apiextensions import conditions
from hydrofoil.apiextensions.conditions import Change, Condition, Definition
from hydrofoil.apiextensions.resources import condition, holds
from hydrofoil.apiextensions.served import Served
from hydrofoil.apiextensions.status import FINALIZER, Definitions, going
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Outdated
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.queue import Key, Queue

LOG = logging.getLogger("hydrofoil")
SEEN_SECONDS = 0.15
"""The time a definition with further finalizers is seen as terminating, as with upstream's controller."""
WIDTH = 8
"""The number of definitions processed at a time."""
PROGRESS: Condition = ("Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
FAILED = "InstanceDeletionFailed"


class Finalizer:
    """Delete the instances of definitions that are being deleted, then remove the definitions' finalizer.

    Safe to run in several servers over one log: the later ones find nothing left to do.
    """

    def __init__(self, definitions: Definitions, served: Followed[Served], clock: Clock) -> None:
        self._definitions = definitions
        self._registry = definitions.registry
        self._served = served
        self._clock = clock
        self.queue = Queue("the clean-up of definitions", self._work, clock, self._registry.activity, width=WIDTH)
        self._held: set[str] = set()
        """Definitions that wait for instances, which may have finalizers."""

    def put(self, name: str) -> None:
        """Queue a definition for the removal of its instances."""
        self.queue.put((name,))

    def instance_gone(self, name: str) -> None:
        """Queue a definition again that waits for its instances."""
        if name in self._held:
            self.put(name)

    async def close(self) -> None:
        """Stop the work."""
        await self.queue.close()

    async def _work(self, key: Key) -> bool:
        name = key[0]
        self._held.discard(name)
        stored = self._definitions.get(name)
        if stored is None or not going(definition := self._registry.outlines.of(stored)):
            return True
        await self._definitions.write(name, start_of_deletion)
        ended: Condition = ("Terminating", "False", "NeverEstablished", "resource was never established")
        if holds(definition, "Established"):
            await self._served.state.settled(name)
            instances = self._served.state.instances(name)
            if instances is None or not await self._emptied(instances, name):
                return False
            ended = ("Terminating", "False", "InstanceDeletionCompleted", "removed all instances")
        if len(definition["metadata"]["finalizers"]) > 1:
            await self._clock.machine.sleep(SEEN_SECONDS)

        def finish(draft: Draft, clock: Clock) -> None:
            conditions.put(draft, ended, clock)
            kept = [f for f in draft.lifecycle().finalizers if f != FINALIZER]
            draft.set(["metadata", "finalizers"], orjson.dumps(kept) if kept else None)

        # Other finalizers may allow objects to be created again: its condition reports it.
        await self._definitions.write(name, lambda _, found: finish if going(found) else None)
        return True

    async def _emptied(self, instances: Resource, name: str) -> bool:
        """Delete all instances; report whether none is left: some may have finalizers, and some may be unreadable."""
        collection = self._registry.collection(instances)
        if not collection.ready():
            await collection.wait()
        if not collection.stats().objects:
            return True
        write = Write(epoch=self._registry.storage.epoch)
        try:
            async for old in self._registry.walk(instances):
                try:
                    await self._registry.delete(instances, old.namespace, old.name, DeleteOptions(), write)
                except ApiError as e:
                    if e.code not in (404, 409):
                        LOG.warning("%s: %s", instances.plural, e.message)
        except Outdated:
            # The definition may be another one now.
            return False
        except engine.ConversionError as e:
            kind = f"{instances.api_version}, Kind={instances.kind}"
            why = f"could not list instances: storage is (re)initializing: failed to list {kind}: {e.message}"
            failed: Condition = ("Terminating", "True", FAILED, why)
            await self._definitions.write(name, lambda _, found: set_condition(found, failed))
            return False
        if collection.stats().objects:
            self._held.add(name)
            return False
        return True


def set_condition(definition: Definition, verdict: Condition) -> Change | None:
    """Return the change that sets a condition."""
    return None if conditions.same(definition, verdict) else lambda draft, clock: conditions.put(draft, verdict, clock)


def start_of_deletion(_: Stored, definition: Definition) -> Change | None:
    """Return the change at the start of the deletion of instances; a failure is reported until a success."""
    found = condition(definition, "Terminating")
    if not going(definition) or (found is not None and (found["status"], found["reason"]) == ("True", FAILED)):
        return None
    return set_condition(definition, PROGRESS)
