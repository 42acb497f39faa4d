"""The status of definitions: accepted names, established, approval, schemas that are not structural.

Upstream leaves this to controllers in its own process (`pkg/controller/{status,establish,apiapproval,
nonstructuralschema}`). Here it is a queue of names that writes wait for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil.apiextensions import conditions, name_conflicts
from hydrofoil.apiextensions.conditions import Change, Definition
from hydrofoil.apiextensions.resources import condition
from hydrofoil.apiextensions.served import Served
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import run
from hydrofoil.registry.store import Registry
from hydrofoil.storage.errors import Conflict, Missing
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.queue import Key, Queue

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
MANAGER = "kube-apiserver"
"""The field manager of the status, as upstream's."""


Choose = Callable[[Stored, Definition], Awaitable[Change | None] | Change | None]
"""Return the change of a definition; its schemas are in the stored one only."""


def going(definition: Definition) -> bool:
    """Report whether the instances of a definition must be removed before it."""
    metadata = definition["metadata"]
    return "deletionTimestamp" in metadata and FINALIZER in metadata.get("finalizers", ())


class Definitions:
    """The present definitions, written as the server itself."""

    def __init__(self, registry: Registry, resource: Resource) -> None:
        self.registry = registry
        self.resource = resource
        self.collection = registry.collection(resource)

    def get(self, name: str) -> Stored | None:
        """Return the present version of a definition."""
        return self.collection.get(self.resource.native, "", name)

    async def write(self, name: str, choose: Choose) -> bool:
        """Write the change chosen from the present status, again after a conflict; report whether there was one."""
        strategy = self.registry.strategy(self.resource)
        while True:
            # Work off the loop would lose against clients that write the definition all the time.
            async with self.registry.locks.of((self.resource.storage, "", name)):
                if (old := self.get(name)) is None:
                    return False
                chosen = choose(old, self.registry.outlines.of(old))
                change = await chosen if isinstance(chosen, Awaitable) else chosen
                if change is None:
                    return False
                draft = await run(self._changed, old, change, pooled=old.size > LARGE)
                gone = strategy.gone(draft)
                try:
                    await (self.collection.delete(old) if gone else self.collection.update(old, draft))
                except (Conflict, Missing):
                    continue
            if gone:
                await strategy.after(self.resource, old, None)
            return True

    def _changed(self, old: Stored, change: Change) -> Draft:
        """Return a changed definition in the storage version."""
        clock = self.registry.clock
        draft = old.thaw()
        change(draft, clock)
        draft.read_update(clock.native, old, MANAGER, "status").there()
        draft.keep_metadata(old)
        draft.seal()
        return draft


class Status:
    """Keep the status of each definition in step with its spec and the names of the others.

    Safe to run in several servers over one log: each write depends on the version that was read.
    """

    def __init__(
        self, definitions: Definitions, served: Followed[Served], clean: Callable[[str], None], clock: Clock
    ) -> None:
        """`clean` is called with definitions whose instances must be removed."""
        self._definitions = definitions
        self._served = served
        self._clean = clean
        self._settled: dict[str, int] = {}
        """The revisions of fully processed definitions."""
        # One after the other: the first to request names holds them.
        self.queue = Queue("the status of definitions", self._work, clock, definitions.registry.activity)
        served.on_change(self._look)

    def done(self, name: str) -> Awaitable[None]:
        """Wait until the status of a definition is up to date."""
        return self.queue.done((name,))

    async def close(self) -> None:
        """Stop the work."""
        await self.queue.close()

    def _look(self) -> None:
        """Queue the definitions that are not fully processed."""
        served = self._served.state
        for name in served.changed():
            stored = served.present(name)
            if self._settled.get(name) != (stored and stored.revision):
                self.queue.put((name,))

    async def _work(self, key: Key) -> bool:
        names = [key[0]]
        for name in names:
            group = name.partition(".")[2]
            if await self._definitions.write(name, self._named) or self._definitions.get(name) is None:
                # Others of the group may take the names that it released.
                names += [other for other in self._served.state.waiting(group) if other != name]
            while await self._definitions.write(name, self._judged):
                """One condition after the other."""
            stored = self._definitions.get(name)
            if stored is None:
                self._settled.pop(name, None)
                continue
            self._settled[name] = stored.revision
            if going(self._definitions.registry.outlines.of(stored)):
                self._clean(name)
        return True

    def _named(self, stored: Stored, definition: Definition) -> Change | None:
        """Return the change of the accepted names."""
        if definition["spec"]["names"] == definition.get("status", {}).get("acceptedNames", {}):
            return None
        return name_conflicts.names(definition, self._served.state.taken(definition["spec"]["group"]))

    async def _judged(self, stored: Stored, definition: Definition) -> Change | None:
        """Return the next change of the other conditions."""
        problem = None
        if definition["spec"].get("preserveUnknownFields") or condition(definition, conditions.NONSTRUCTURAL):
            native = self._definitions.registry.catalog.native
            problem = await run(native.nonstructural, stored, pooled=stored.size > LARGE)
        change = conditions.establish(definition) or conditions.approval(definition)
        return change or conditions.structural(definition, problem)
