"""The steps of an import: definitions, then namespaces, then the rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import orjson

from hydrofoil.cli.client import Client
from hydrofoil.cli.dumps.batches import BatchSender
from hydrofoil.cli.dumps.owners import OwnerMap
from hydrofoil.cli.dumps.progress import Bar
from hydrofoil.cli.dumps.sender import ObjectSender
from hydrofoil.cli.dumps.served import JSON, Resource, ServedResources, discover
from hydrofoil.cli.dumps.summary import Summary
from hydrofoil.controls.apply import MANAGER
from hydrofoil.dumps.object import DumpedObject
from hydrofoil.dumps.order import DEFINITION, NAMESPACE, DumpIndex


class Import:
    """One import to one server."""

    def __init__(
        self,
        client: Client,
        index: DumpIndex,
        summary: Summary,
        bar: Bar,
        on_conflict: str,
        *,
        keeps_uids: bool,
        resumes: bool,
    ) -> None:
        self._client = client
        self._summary = summary
        self._bar = bar
        self._served = ServedResources()
        self._sender = ObjectSender(client, self._served, summary, on_conflict, resumes=resumes)
        self._owners = OwnerMap(index, summary, self._sender.look, keeps_uids=keeps_uids)
        self._batches = BatchSender(client, summary, on_conflict, bar, self._owners.forget) if keeps_uids else None

    async def check(self) -> None:
        """Raise Failure for a server that cannot do what is asked."""
        if self._batches is not None:
            await self._batches.check()
        await self._discover()

    async def _discover(self) -> None:
        fresh = await discover(self._client)
        self._served.by_kind = fresh.by_kind
        self._served.preferred = fresh.preferred

    @property
    def served(self) -> ServedResources:
        """Return the resources of the server."""
        return self._served

    async def take(self, objects: Sequence[DumpedObject], *, makes_namespaces: bool) -> None:
        """Import objects, which are in their order.

        `makes_namespaces`: those of objects whose dump has no namespaces, as that of kubectl cluster-info has none.
        """
        if self._batches is not None:
            # They have their own uids, once they are there.
            for found in objects:
                self._owners.learn(found, found.uid)
        definitions = [found for found in objects if (found.group, found.kind) == DEFINITION]
        await self._take_all(definitions)
        if definitions:
            for found in definitions:
                await self._wait_for(found)
            await self._discover()
        others = [found for found in objects if (found.group, found.kind) != DEFINITION]
        namespaces = [found for found in others if (found.group, found.kind) == NAMESPACE]
        await self._take_all(namespaces)
        if makes_namespaces:
            await self._make_namespaces({found.namespace for found in others} - {"", *(n.name for n in namespaces)})
        await self._take_all([found for found in others if (found.group, found.kind) != NAMESPACE])

    async def _make_namespaces(self, names: Collection[str]) -> None:
        """Create namespaces that are not there. Where that is refused, their objects will say so."""
        for name in sorted(names):
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            await self._client.ask("POST", f"/api/v1/namespaces?fieldManager={MANAGER}", JSON, orjson.dumps(body))

    async def _wait_for(self, definition: DumpedObject) -> None:
        """Wait until the versions of a definition are served; one that is not is a reason of its objects."""
        spec = definition.content().get("spec") or {}
        kind = (spec.get("names") or {}).get("kind")
        for version in spec.get("versions") or ():
            if version.get("served") and isinstance(kind, str):
                await self._client.find(str(spec.get("group")), str(version.get("name")), kind, True)

    async def _take_all(self, objects: Sequence[DumpedObject]) -> None:
        for found in objects:
            resource = self._served.by_kind.get((found.api_version, found.kind))
            if resource is None or "create" not in resource.verbs:
                self._summary.skip(found, f'the server has no kind "{found.kind}" in version "{found.api_version}"')
                self._bar.advance()
            elif self._batches is not None:
                await self._add(self._batches, found)
            else:
                await self._send(resource, found)
                self._bar.advance()
        if self._batches is not None:
            await self._batches.flush()

    async def _add(self, batches: BatchSender, found: DumpedObject) -> None:
        line = found.json
        if not await self._owners.stand(found):
            content = found.content()
            await self._owners.translate(found, content)
            line = orjson.dumps(content)
        await batches.add(found, line)

    async def _send(self, resource: Resource, found: DumpedObject) -> None:
        content = found.content()
        await self._owners.translate(found, content)
        (outcome, reason), uid = await self._sender.send(resource, found, content)
        self._owners.learn(found, uid)
        self._summary.count(found, outcome, reason)
