"""The revisions of one owner (`pkg/controller/history/controller_history.go`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.adoption import ControllerRefManager, adoption_patch, orphan_keys, orphans
from hydrofoil.controllers.objects.hashes import safe_hash
from hydrofoil.controllers.objects.meta import LabelSelector
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.revisions import ControllerRevision, patch_of
from hydrofoil.controllers.objects.templates import PodTemplate
from hydrofoil.controllers.runtime.client import Client
from hydrofoil.controllers.runtime.lister import Lister
from hydrofoil.engine import Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.objects import Objects

LONGEST_PREFIX = 223


def owner_of(revision: ControllerRevision) -> tuple[str, ...]:
    """Return the uid of the owner that manages a revision, for an index."""
    owner = revision.metadata.controller
    return () if owner is None else (owner.uid,)


class History:
    """Read and write revisions for a controller."""

    def __init__(
        self, client: Client, registry: Objects, resource: Resource, revisions: Lister[ControllerRevision]
    ) -> None:
        self._client = client
        self._registry = registry
        self._resource = resource
        self._revisions = revisions

    def find(self, owner: Owner, selector: LabelSelector) -> list[ControllerRevision]:
        """Return the revisions of an owner, and those that nobody has, the oldest first (`ListControllerRevisions`)."""
        meta = owner.metadata
        found = self._revisions.index(owner_of).get(meta.uid)
        found += orphans(self._revisions.index(orphan_keys), meta.namespace, selector)
        return sorted((one for one in found if selector.matches(one.metadata.labels)), key=lambda one: one.order)

    async def claim(
        self, owner: Owner, selector: LabelSelector, can_adopt: Callable[[], None]
    ) -> list[ControllerRevision]:
        """Return the revisions of an owner, after it has adopted and released some (`ClaimControllerRevisions`)."""
        meta = owner.metadata
        found = self._revisions.index(owner_of).get(meta.uid)
        found += orphans(self._revisions.index(orphan_keys), meta.namespace, selector)
        manager: ControllerRefManager[ControllerRevision] = ControllerRefManager(
            owner, selector, self._patch, can_adopt
        )
        return await manager.claim(found)

    async def _patch(self, namespace: str, name: str, patch: dict[str, Any]) -> Stored:
        return await self._client.patch(self._resource, namespace, name, patch)

    async def adopt(self, owner: Owner, revision: ControllerRevision) -> ControllerRevision:
        """Make a revision that nobody manages the owner's."""
        meta = revision.metadata
        return self._revisions.value(await self._patch(meta.namespace, meta.name, adoption_patch(owner, meta.uid)))

    async def create(
        self, owner: Owner, template: PodTemplate, number: int, collisions: int | None, label: str
    ) -> ControllerRevision | None:
        """Create a revision of a template, and return it; `label` is the one with its hash.

        A revision of its name is that one if it restores the same, as after a look that saw too little. Else None is
        returned: another count of collisions gives another name. Raise ApiError.
        """
        meta, data = owner.metadata, patch_of(template)
        text = safe_hash(orjson.Fragment(data), collisions)
        name = f"{meta.name[:LONGEST_PREFIX]}-{text}"
        body = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": name,
                "labels": {**template.labels, label: text},
                "annotations": meta.annotations,
                "ownerReferences": [owner.reference],
            },
            "data": orjson.Fragment(data),
            "revision": number,
        }
        try:
            return self._revisions.value(await self._client.create(self._resource, meta.namespace, orjson.dumps(body)))
        except ApiError as e:
            if e.reason != "AlreadyExists":
                raise
        present = self._revisions.value(self._registry.get(self._resource, meta.namespace, name))
        return present if present.restores(template) else None

    async def renumber(self, revision: ControllerRevision, number: int) -> ControllerRevision:
        """Give a revision another number (`UpdateControllerRevision`)."""
        meta = revision.metadata
        if revision.revision == number:
            return revision
        stored = await self._client.update(
            self._resource, meta.namespace, meta.name, lambda draft: draft.set(["revision"], orjson.dumps(number))
        )
        return self._revisions.value(stored)

    async def label(self, revision: ControllerRevision, name: str, value: str) -> ControllerRevision:
        """Give a revision a label."""
        meta = revision.metadata
        labels = orjson.dumps({**meta.labels, name: value})
        stored = await self._client.update(
            self._resource, meta.namespace, meta.name, lambda draft: draft.set(["metadata", "labels"], labels)
        )
        return self._revisions.value(stored)

    async def delete(self, revision: ControllerRevision) -> None:
        """Delete a revision."""
        meta = revision.metadata
        await self._client.delete(self._resource, meta.namespace, meta.name)
