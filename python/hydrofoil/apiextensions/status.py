"""The status of definitions: accepted names, whether they are served, approval, schemas that are not structural.

What apiextensions-apiserver leaves to controllers of its own process (`pkg/controller/{status,establish,apiapproval,
nonstructuralschema}`) is a queue of names here, which writes wait for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import orjson

from hydrofoil.apiextensions import naming
from hydrofoil.apiextensions.naming import Change, Definition
from hydrofoil.apiextensions.served import Served
from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.custom import condition
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.pool import LARGE, run
from hydrofoil.registry.store import Registry
from hydrofoil.storage.errors import Conflict, Missing
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.queue import Key, Queue

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
MANAGER = "kube-apiserver"
"""Who owns the status, as upstream names itself."""


def going(definition: Definition) -> bool:
    """Whether the instances of a definition are to go before it does."""
    metadata = definition["metadata"]
    return "deletionTimestamp" in metadata and FINALIZER in metadata.get("finalizers", ())


class Definitions:
    """The definitions as they are, to be written as the server's own."""

    def __init__(self, registry: Registry, resource: Resource) -> None:
        self.registry = registry
        self.resource = resource
        self.collection = registry.collection(resource)

    def get(self, name: str) -> Stored | None:
        """The present version of a definition."""
        return self.collection.get(self.resource.native, "", name)

    async def write(self, name: str, choose: Callable[[Stored, Definition], Change | None]) -> bool:
        """Write once what is chosen of the present status, again when another write came between; whether it was."""
        strategy = self.registry.strategy(self.resource)
        while (old := self.get(name)) is not None:
            large = old.size > LARGE
            change = choose(old, await read(old))
            if change is None:
                return False
            draft = await run(self._changed, old, change, pooled=large)
            try:
                if strategy.gone(draft):
                    await self.collection.delete(old)
                    await strategy.after(self.resource, old, None)
                else:
                    await self.collection.update(old, draft)
            except (Conflict, Missing):
                continue
            return True
        return False

    def _changed(self, old: Stored, change: Change) -> Draft:
        """A changed definition in the form that is stored."""
        clock = self.registry.clock
        draft = old.thaw()
        change(draft, clock)
        draft.default(clock.native)
        draft.track(clock.native, MANAGER, old, "status")
        draft.keep_metadata(old)
        draft.seal()
        return draft


async def read(stored: Stored) -> Definition:
    """What a definition says; a large one leaves the loop to be read."""
    found: Definition = await run(orjson.loads, stored.json, pooled=stored.size > LARGE)
    return found


class Status:
    """Keeps the status of each definition as its spec and the names of the others say.

    Safe to run in several servers over one log: what is written depends on what it was read from.
    """

    def __init__(
        self, definitions: Definitions, served: Followed[Served], clean: Callable[[str], None], clock: Clock
    ) -> None:
        """`clean` is called with definitions whose instances are to go."""
        self._definitions = definitions
        self._served = served
        self._clean = clean
        self._settled: dict[str, int] = {}
        """The revisions of definitions of which all is done."""
        # One after the other: who comes first has the names.
        self._queue = Queue("the status of definitions", self._work, clock)
        served.on_change(self._look)

    def done(self, name: str) -> Awaitable[None]:
        """Wait until the status of a definition is as it has to be."""
        return self._queue.done((name,))

    async def close(self) -> None:
        """Work no more."""
        await self._queue.close()

    def _look(self) -> None:
        """Have those worked on of which not all is done."""
        served = self._served.state
        for name in served.changed():
            stored = served.present(name)
            if self._settled.get(name) != (stored and stored.revision):
                self._queue.put((name,))

    async def _work(self, key: Key) -> bool:
        names = [key[0]]
        for name in names:
            group = name.partition(".")[2]
            if await self._definitions.write(name, self._named) or self._definitions.get(name) is None:
                # Others of the group may have the names that it left.
                names += [other for other in self._served.state.waiting(group) if other != name]
            while await self._definitions.write(name, self._judged):
                """One condition after the other."""
            stored = self._definitions.get(name)
            if stored is None:
                self._settled.pop(name, None)
                continue
            self._settled[name] = stored.revision
            if going(await read(stored)):
                self._clean(name)
        return True

    def _named(self, stored: Stored, definition: Definition) -> Change | None:
        """What changes of the accepted names."""
        if definition["spec"]["names"] == definition.get("status", {}).get("acceptedNames", {}):
            return None
        return naming.names(definition, self._served.state.taken(definition["spec"]["group"]))

    def _judged(self, stored: Stored, definition: Definition) -> Change | None:
        """What changes first of the other conditions."""
        problem = None
        if definition["spec"].get("preserveUnknownFields") or condition(definition, naming.NONSTRUCTURAL):
            problem = self._definitions.registry.catalog.native.nonstructural(stored)
        return naming.establish(definition) or naming.approval(definition) or naming.structural(definition, problem)
