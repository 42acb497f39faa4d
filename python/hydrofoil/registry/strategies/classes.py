"""Kinds that get a default class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from hydrofoil import errors
from hydrofoil.engine import limit_refusal, storage_grows
from hydrofoil.registry.strategies.base import Strategy, Undo, nothing

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.engine import Draft, Stored
    from hydrofoil.registry.store import Registry

OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


def default_class(registry: Registry, group: str, plural: str, marks: tuple[str, ...]) -> str | None:
    """The class that one of the annotations marks: the newest, and of those the first by name."""
    classes = registry.catalog.find(group, "v1", plural)
    if classes is None:
        return None
    marked = []
    for stored in registry.all(classes):
        meta = orjson.loads(stored.json)["metadata"]
        if any(meta.get("annotations", {}).get(mark) == "true" for mark in marks):
            marked.append(meta)
    marked.sort(key=lambda m: str(m["name"]))
    marked.sort(key=lambda m: str(m["creationTimestamp"]), reverse=True)
    return marked[0]["name"] if marked else None


def _annotations(draft: Draft) -> dict[str, str]:
    found: dict[str, str] = orjson.loads(draft.get(["metadata", "annotations"]) or b"{}")
    return found


class IngressStrategy(Strategy):
    """An ingress that names no class gets the default one (the DefaultIngressClass admission plug-in)."""

    async def before_create(self, resource: Resource, draft: Draft, *, dry_run: bool) -> Undo:
        if draft.get(["spec", "ingressClassName"]) is None and "kubernetes.io/ingress.class" not in _annotations(draft):
            marks = ("ingressclass.kubernetes.io/is-default-class",)
            name = default_class(self.registry, "networking.k8s.io", "ingressclasses", marks)
            if name is not None:
                draft.set(["spec", "ingressClassName"], orjson.dumps(name))
        return nothing


class ClaimStrategy(Strategy):
    """Claims: a default class (DefaultStorageClass), limits, and growth only where their class allows it."""

    MARKS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")

    async def before_create(self, resource: Resource, draft: Draft, *, dry_run: bool) -> Undo:
        if draft.get(["spec", "storageClassName"]) is None and OLD_CLASS not in _annotations(draft):
            name = default_class(self.registry, "storage.k8s.io", "storageclasses", self.MARKS)
            if name is not None:
                draft.set(["spec", "storageClassName"], orjson.dumps(name))
        return nothing

    def admit_valid(self, resource: Resource, old: Stored | None, draft: Draft, subresource: str) -> None:
        if subresource:
            return
        self.registry.limits.check(resource, old, draft, lambda range_: limit_refusal(draft, range_, claim=True))
        if old is not None:
            self._resize(old, draft)

    def _resize(self, old: Stored, draft: Draft) -> None:
        """The PersistentVolumeClaimResize admission plug-in."""
        if not storage_grows(draft, old):
            return
        before: dict[str, Any] = orjson.loads(old.json)
        if before.get("status", {}).get("phase") != "Bound":
            why = "Only bound persistent volume claims can be expanded"
            raise errors.forbidden("", "persistentvolumeclaims", old.name, why)
        names = {_class_of(before), _class_of(orjson.loads(draft.json()))}
        classes = self.registry.catalog.find("storage.k8s.io", "v1", "storageclasses")
        name = names.pop()
        found = None
        if not names and name and classes is not None:
            found = self.registry.collection(classes).get(classes.native, "", name)
        if found is None or not orjson.loads(found.json).get("allowVolumeExpansion"):
            why = (
                "only dynamically provisioned pvc can be resized and "
                "the storageclass that provisions the pvc must support resize"
            )
            raise errors.forbidden("", "persistentvolumeclaims", old.name, why)


def _class_of(claim: dict[str, Any]) -> str:
    notes = claim["metadata"].get("annotations", {})
    return str(notes.get(OLD_CLASS) or claim.get("spec", {}).get("storageClassName") or "")
