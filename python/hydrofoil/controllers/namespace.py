"""Namespace deletion: the content is deleted first, then the namespace (URI-23)."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from hydrofoil.aggregation.content import RemoteContent
from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.content import Content
from hydrofoil.controllers.namespace_status import Findings, conditions
from hydrofoil.controllers.runtime.controller import Controller, Watch
from hydrofoil.controllers.runtime.fields import is_deleting
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.write import Write

FINALIZER = "kubernetes"
"""The finalizer of a namespace until its content is deleted."""
TOLD_SECONDS = 8.5
"""How long the conditions of a namespace say what was found while the same things are wrong.

Upstream looks again after half of 15 seconds and one more (`finalizerEstimateSeconds`). Here it is looked at more
often, so that a namespace ends as soon as it can, and told as often.
"""


class NamespaceController(Controller):
    """Finalize terminating namespaces."""

    name = "namespace"
    user = service_account("namespace-controller")

    def __init__(self, runtime: Runtime, remote: RemoteContent) -> None:
        """Take `remote` as the objects in other servers."""
        super().__init__(runtime)
        self._content = Content(runtime.registry, remote, self.user)
        self._told: dict[str, tuple[frozenset[str], float]] = {}
        """What was wrong when the conditions of a namespace were written last, and when, in seconds of the server's
        clock."""

    def watches(self) -> list[Watch]:
        return [(self.resource("", "namespaces"), self._on_namespace)]

    def _on_namespace(self, _: Stored | None, new: Stored | None) -> None:
        if new is not None and is_deleting(new):
            self.put(new.name)

    async def work(self, key: tuple[str, ...]) -> bool:
        """Delete the remaining content of a namespace, and the namespace if it is empty."""
        (name,) = key
        resource = self.resource("", "namespaces")
        stored = self.registry.collection(resource).get(resource.native, "", name)
        lifecycle = None if stored is None else stored.thaw().lifecycle()
        if stored is None or lifecycle is None or not lifecycle.deletion_timestamp:
            return True
        finalizers = orjson.loads(stored.thaw().get(["spec", "finalizers"]) or b"[]")
        if FINALIZER not in finalizers:
            return True
        findings = await self._content.delete(name, lifecycle.deletion_timestamp, self._one)
        if not findings.done:
            wrong, now = frozenset(findings.problems()), self.registry.clock.seconds()
            if wrong != (last := self._told.get(name, (None, 0.0)))[0] or now >= last[1] + TOLD_SECONDS:
                await self._tell(name, findings)
                self._told[name] = wrong, now
            return False
        if len(finalizers) > 1 or lifecycle.finalizers:
            # Others hold it, so that what was wrong before would be read as still wrong.
            await self._tell(name, findings)
        await self._finalize(name)
        self._told.pop(name, None)
        return True

    def _one(self, resource: Resource, namespace: str, name: str) -> Write:
        return self.write(resource, namespace, name)

    async def _tell(self, name: str, findings: Findings) -> None:
        def change(old: Stored) -> Draft:
            draft = old.thaw()
            before = orjson.loads(draft.get(["status", "conditions"]) or b"[]")
            after = conditions(before, findings, self.registry.clock.text())
            draft.set(["status", "conditions"], orjson.dumps(after))
            return draft

        await self._write(name, change, "status")

    async def _finalize(self, name: str) -> None:
        def change(old: Stored) -> Draft:
            draft = old.thaw()
            finalizers = orjson.loads(draft.get(["spec", "finalizers"]) or b"[]")
            draft.set(["spec", "finalizers"], orjson.dumps([f for f in finalizers if f != FINALIZER]))
            return draft

        await self._write(name, change, "finalize")

    async def _write(self, name: str, change: Callable[[Stored], Draft], subresource: str) -> None:
        try:
            resource = self.resource("", "namespaces")
            write = self.write(resource, "", name, subresource=subresource)
            await self.registry.update(resource, "", name, change, write)
        except ApiError as e:
            if e.code not in (404, 409):
                raise
