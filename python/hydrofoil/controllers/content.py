"""Deletion of all that is in a namespace (`pkg/controller/namespace/deletion/namespaced_resources_deleter.go`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime

import orjson

from hydrofoil.aggregation.content import RemoteContent
from hydrofoil.aggregation.remote import Remote
from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.graph import Kind
from hydrofoil.controllers.namespace_status import Findings
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.request import User

ENDED = (b'"Succeeded"', b'"Failed"')
"""The phases of pods that need no time to end."""


class Content:
    """All resources in namespaces, here and in the servers behind API services."""

    def __init__(self, registry: Registry, remote: RemoteContent, user: User) -> None:
        self._registry = registry
        self._remote = remote
        self._user = user

    async def delete(self, namespace: str, deleted: str, write: Callable[[Resource, str, str], Write]) -> Findings:
        """Delete all objects in a namespace that may go; `deleted` is when its deletion began.

        Pods go before all others. A resource that cannot be deleted does not hold up others.
        """
        findings = Findings(self._remote.unknown())
        pacer = Pacer()
        kinds = dict(self._kinds())
        pods = kinds.pop(("", "pods"), None)
        if pods is not None:
            await self._empty(pods, namespace, await self._period(pods, namespace, deleted), write, findings, pacer)
            if findings.remaining:
                # Upstream writes no totals before it gets to the other resources.
                findings.remaining, findings.finalizers = Counter(), Counter()
                return findings
        for kind in kinds.values():
            await pacer.pause()
            await self._empty(kind, namespace, False, write, findings, pacer)
        return findings

    def _kinds(self) -> Iterator[tuple[tuple[str, str], Kind]]:
        """Yield each namespaced resource by group and plural once, at the preferred version that has it
        (`ServerPreferredNamespacedResources`)."""
        groups = self._registry.catalog.groups
        order = {group: [*versions] for group, versions in groups.items()} | self._remote.versions()
        seen: set[tuple[str, str]] = set()
        for group, versions in order.items():
            for version in versions:
                own = groups.get(group, {}).get(version, {}).values()
                kinds: list[Kind] = [r for r in own if r.namespaced and {"delete", "list"} <= {*r.verbs}]
                for kind in kinds or self._remote.resources(group, version):
                    if (key := (group, kind.plural)) not in seen:
                        seen.add(key)
                        yield key, kind

    async def _empty(
        self,
        kind: Kind,
        namespace: str,
        ending: bool,
        write: Callable[[Resource, str, str], Write],
        findings: Findings,
        pacer: Pacer,
    ) -> None:
        """Delete the objects of a resource, and note those that remain.

        `ending`: whether they are given time to end (`deleteAllContentForGroupVersionResource`).
        """
        try:
            if isinstance(kind, Remote):
                await self._remote.delete(kind, namespace, self._user)
            else:
                await self._delete(kind, namespace, write, pacer)
            count, finalizers = 0, Counter[str]()
            async for held in self._left(kind, namespace, pacer):
                count += 1
                finalizers.update(held)
        except ApiError as e:
            findings.failures.append(e.message)
            findings.waiting |= ending
            return
        group, version, plural = _key_of_resource(kind)
        if count:
            findings.remaining[f"{plural}.{group}"] = count
            findings.finalizers.update(finalizers)
            findings.waiting |= ending or bool(finalizers)
            if not ending and not finalizers:
                findings.failures.append(
                    f"unexpected items still remain in namespace: {namespace}"
                    f" for gvr: {group}/{version}, Resource={plural}"
                )

    async def _delete(
        self, resource: Resource, namespace: str, write: Callable[[Resource, str, str], Write], pacer: Pacer
    ) -> None:
        """Delete the objects of a resource of this server up to the first that is refused. Raise ApiError."""
        options = DeleteOptions(policy="Background")
        async for old in self._registry.walk(resource, namespace, pacer):
            try:
                await self._registry.delete(
                    resource, namespace, old.name, options, write(resource, namespace, old.name)
                )
            except ApiError as e:
                if e.code != 404:
                    raise

    async def _left(self, kind: Kind, namespace: str, pacer: Pacer) -> AsyncIterator[list[str]]:
        """Yield the finalizers of each object of a resource. Raise ApiError."""
        if isinstance(kind, Remote):
            for metadata in await self._remote.left(kind, namespace, self._user):
                yield metadata.get("finalizers") or []
        else:
            async for old in self._registry.walk(kind, namespace, pacer):
                yield old.thaw().lifecycle().finalizers

    async def _period(self, pods: Kind, namespace: str, deleted: str) -> bool:
        """Report whether pods may still use the time that they have to end (`estimateGracefulTermination`)."""
        if isinstance(pods, Remote):
            return False
        longest = 0
        async for old in self._registry.walk(pods, namespace):
            draft = old.thaw()
            if draft.get(["status", "phase"]) not in ENDED:
                period = orjson.loads(draft.get(["spec", "terminationGracePeriodSeconds"]) or b"0")
                longest = max(longest, period or 0)
        passed = self._registry.clock.now() - datetime.fromisoformat(deleted)
        return passed.total_seconds() < longest


def _key_of_resource(kind: Kind) -> tuple[str, str, str]:
    if isinstance(kind, Remote):
        return kind.registered.group, kind.registered.version, kind.plural
    return kind.group, kind.version, kind.plural
