"""The OwnerReferencesPermissionEnforcement admission plug-in (plugin/pkg/admission/gc `gc_admission.go`)."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.rights import decision
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.go_text import quote
from hydrofoil.registry.write import Operation
from hydrofoil.request import Verdict

Reference = dict[str, Any]
OWNERS = ["metadata", "ownerReferences"]


def _go_text(verdict: Verdict) -> str:
    """Return reason and error as Go prints them."""
    return f"{verdict.reason}, {verdict.error or '<nil>'}"


class OwnerReferences(Plugin):
    """Require the right to delete an object to set its owners, and to finalizers of an owner to block its deletion."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        # Kubelets write the status of pods, whose owners they may not delete.
        return operation != "DELETE" and (resource.storage, subresource) != (("", "pods"), "status")

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Check owners that change. Raise ApiError 403."""
        new = orjson.loads(a.object.get(OWNERS) or b"[]")
        old: list[Reference] = []
        if a.old is not None and b'"ownerReferences"' in (text := a.old.json):
            old = orjson.loads(text)["metadata"].get("ownerReferences") or []
        return None if new == old else self._check(a, new, old)

    async def _check(self, a: Attributes, new: list[Reference], old: list[Reference]) -> None:
        if a.operation != "CREATE":
            # A new object is its author's own.
            await self._deletes(a)
        blocked = {each.get("uid") for each in old if each.get("blockOwnerDeletion")}
        blocking = [each for each in new if each.get("blockOwnerDeletion") and each.get("uid") not in blocked]
        if not blocking or (await decision(a, "update", "*", "*", subresource="finalizers", name="*")).allowed:
            return
        for reference in blocking:
            await self._finalizes(a, reference)

    async def _deletes(self, a: Attributes) -> None:
        """Check the right to delete the object. Raise ApiError 403."""
        group, _, version = a.resource.api_version.rpartition("/")
        deletes = await decision(
            a,
            "delete",
            group,
            a.resource.plural,
            version=version,
            subresource=a.subresource,
            namespace=a.namespace,
            name=a.name or a.object.metadata().name,
        )
        if not deletes.allowed:
            raise a.forbidden(f"cannot set an ownerRef on a resource you can't delete: {_go_text(deletes)}")

    async def _finalizes(self, a: Attributes, reference: Reference) -> None:
        """Check the right to set the finalizers of an owner."""
        api_version, kind = reference.get("apiVersion", ""), reference.get("kind", "")
        group, _, version = api_version.rpartition("/")
        owners = [r for r in self._catalog.resources() if (r.api_version, r.kind) == (api_version, kind)]
        if not owners:
            text = f"cannot find RESTMapping for APIVersion {api_version} Kind {kind}"
            why = f"no matches for kind {quote(kind)} in version {quote(api_version)}"
            raise a.forbidden(f"cannot set blockOwnerDeletion in this case because {text}: {why}")
        for owner in owners:
            made = await decision(
                a,
                "update",
                group,
                owner.plural,
                version=version,
                subresource="finalizers",
                namespace=a.namespace if owner.namespaced else "",
                name=reference.get("name", ""),
            )
            if not made.allowed:
                text = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set"
                raise a.forbidden(f"{text} finalizers on: {_go_text(made)}")
