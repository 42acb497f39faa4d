"""The strategy of custom resource definitions: checks of their writes, and the effects a write waits for."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable

import orjson

from hydrofoil.apiextensions import conditions
from hydrofoil.apiextensions.finalizer import Finalizer
from hydrofoil.apiextensions.resources import holds
from hydrofoil.apiextensions.served import Served
from hydrofoil.apiextensions.status import FINALIZER, Definitions, Status
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import invalid
from hydrofoil.outbound.services import Services
from hydrofoil.outbound.trust import bundle_problem
from hydrofoil.pace.turn import current_turn
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.outcome import Finish
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategy import Step, Strategy, now
from hydrofoil.registry.write import Write
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

BUNDLE = ("spec", "conversion", "webhook", "clientConfig", "caBundle")
OLD_BUNDLE = ("spec", "conversion", "webhookClientConfig", "caBundle")
"""The path of the bundle in `v1beta1`."""
Beside = Callable[[Stored | None, Stored | None], Awaitable[None]]
"""Wait until other work that follows from a definition, by its versions before and after, is done."""


class Extensions:
    """The definitions of one server: the resources they serve, and the queues that process them."""

    def __init__(
        self,
        registry: Registry,
        resource: Resource,
        hub: Hub,
        clock: Clock,
        swapped: Callable[[tuple[str, str] | None], None],
        services: Services | None,
    ) -> None:
        """`services` locates the webhooks that convert; None: they are not called."""
        self._served = Served(registry, clock, swapped, services, self._instance_gone)
        definitions = Definitions(registry, resource)
        self.followed = Followed(definitions.collection, resource.native, self._served, hub)
        self.finalizer = Finalizer(definitions, self.followed, clock)
        self.status = Status(definitions, self.followed, self.finalizer.put, clock)

    def _instance_gone(self, name: str) -> None:
        # The finalizer reads the served state, which exists before it; instances go only once both serve.
        self.finalizer.instance_gone(name)

    async def close(self) -> None:
        """Stop the work and close the connections to webhooks."""
        self.followed.end()
        await self.status.close()
        await self.finalizer.close()
        await self._served.close()


class DefinitionStrategy(Strategy):
    """Make the write of a definition wait until its resources are served, or no longer are."""

    deletes_by_uid = True

    def __init__(self, registry: Registry, extensions: Extensions, beside: Beside) -> None:
        super().__init__(registry)
        self._extensions = extensions
        self._beside = beside
        self._outlines = registry.outlines

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        if (stored := new or old) is not None:
            await asyncio.gather(self._beside(old, new), self._extensions.status.done(stored.name))
            await self._extensions.followed.state.settled(stored.name)
            # Writes of a group are served at the same time, and a definition is large.
            await current_turn().results.resume()

    async def after_mark(self, resource: Resource, stored: Stored) -> None:
        await self._extensions.status.done(stored.name)
        await self._extensions.followed.state.settled(stored.name)
        await current_turn().results.resume()

    async def begin(self, write: Write, draft: Draft, old: Stored | None) -> Finish | None:
        """Refuse an invalid caBundle in the place of a valid one (`allowInvalidCABundle`)."""
        if old is None:
            return None
        meta = draft.metadata()
        kind = meta.kind
        group, _, version = meta.api_version.partition("/")
        bundle = [*(OLD_BUNDLE if version == "v1beta1" else BUNDLE)]
        if (given := draft.get(bundle)) is not None:
            before = self._outlines.of(old)
            text: str = orjson.loads(given)
            wanted, had = base64.b64decode(text or ""), conditions.bundle(before)
            why = bundle_problem(wanted) if wanted != had else ""
            if why and holds(before, "Established") and not bundle_problem(had):
                at = "spec.conversion.webhookClientConfig.caBundle"
                cause = ("FieldValueInvalid", f'Invalid value: "{text}": {why}', at)
                raise invalid(group, kind, old.name, [cause])
        return None

    def begin_delete(self, draft: Draft, options: DeleteOptions) -> Step:
        lifecycle = draft.lifecycle()
        if lifecycle.deletion_timestamp:
            return super().begin_delete(draft, options)
        draft.set(["metadata", "finalizers"], orjson.dumps([*lifecycle.finalizers, FINALIZER]))
        draft.set(["metadata", "deletionTimestamp"], now(self.objects.clock))
        why = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
        conditions.put(draft, ("Terminating", "True", "InstanceDeletionPending", why), self.objects.clock)
        return "mark"
