"""Objects that a controller owns: it adopts orphans that its selector matches, and releases what it does not.

Upstream's `pkg/controller/controller_ref_manager.go`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.objects.meta import Labels, LabelSelector, ObjectMeta
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.runtime.fields import is_deleting
from hydrofoil.controllers.runtime.lister import ValueIndex
from hydrofoil.engine import Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.objects import Objects


class Owned(Protocol):
    """A value with metadata."""

    @property
    def metadata(self) -> ObjectMeta:
        """Return the metadata."""


class Matcher(Protocol):
    """A selector."""

    def matches(self, labels: Labels) -> bool:
        """Report whether labels meet it."""


T = TypeVar("T", bound=Owned)
Patch = Callable[[str, str, dict[str, Any]], Awaitable[Stored]]
"""Apply a strategic merge patch to the object of a namespace and a name."""


def orphan_keys(candidate: Owned) -> tuple[str, ...]:
    """Return what an object that nobody manages is found by, for an index: its namespace, and each label in it."""
    meta = candidate.metadata
    if meta.controller is not None:
        return ()
    return (meta.namespace, *(f"{meta.namespace}/{name}={value}" for name, value in meta.labels.items()))


def orphans(index: ValueIndex[T], namespace: str, selector: LabelSelector) -> list[T]:
    """Return the objects of the index of `orphan_keys` that a selector may match.

    A namespace may have thousands of pods that nobody manages: those with one of the labels are few.
    """
    for name, value in selector.match_labels.items():
        return index.get(f"{namespace}/{name}={value}")
    return index.get(namespace)


def adoption_patch(owner: Owner, uid: str, finalizers: Sequence[str] = ()) -> dict[str, Any]:
    """Return the patch that makes an object owned; the uid is a precondition (`ownerRefControllerPatch`)."""
    metadata: dict[str, Any] = {"ownerReferences": [owner.reference], "uid": uid}
    if finalizers:
        metadata["finalizers"] = list(finalizers)
    return {"metadata": metadata}


def release_patch(owner_uid: str, uid: str, finalizers: Sequence[str] = ()) -> dict[str, Any]:
    """Return the patch that takes an object from its owner (`GenerateDeleteOwnerRefStrategicMergeBytes`)."""
    metadata: dict[str, Any] = {"uid": uid, "ownerReferences": [{"$patch": "delete", "uid": owner_uid}]}
    if finalizers:
        metadata["$deleteFromPrimitiveList/finalizers"] = list(finalizers)
    return {"metadata": metadata}


def deletion_check(registry: Objects, resource: Resource, owner: Owner) -> Callable[[], None]:
    """Return what raises ApiError if an owner is gone or being deleted (`RecheckDeletionTimestamp`).

    It asks the store: the informer may show an owner from before its deletion, which must not adopt any more.
    """

    def check() -> None:
        meta = owner.metadata
        present = registry.get(resource, meta.namespace, meta.name)
        if present.uid != meta.uid or is_deleting(present):
            raise ApiError(409, "Conflict", f"{owner.kind} {meta.namespace}/{meta.name} has just been deleted")

    return check


class ControllerRefManager(Generic[T]):
    """The claims of one owner, during one look at its objects.

    Others may claim the same objects, and clients change them meanwhile: the patches name the uid, and the API refuses
    a second owner that manages an object. Errors come at the end, when all others are claimed.
    """

    def __init__(
        self,
        owner: Owner,
        selector: Matcher,
        patch: Patch,
        can_adopt: Callable[[], None],
        *,
        finalizers: Sequence[str] = (),
    ) -> None:
        """Take what raises ApiError if the owner may not adopt; it is called before the first adoption."""
        self._owner = owner
        self._selector = selector
        self._patch = patch
        self._can_adopt = can_adopt
        self._finalizers = finalizers
        self._checked = False

    async def claim(self, objects: Iterable[T], accepts: Callable[[T], bool] | None = None) -> list[T]:
        """Return the objects that are owned now (`ClaimPods`); one that `accepts` refuses does not match.

        Raise the first ApiError of an adoption or a release.
        """
        uid, selector = self._owner.metadata.uid, self._selector
        claimed: list[T] = []
        failure: ApiError | None = None
        for candidate in objects:
            ref = candidate.metadata.controller
            if ref is not None and ref.uid != uid:
                continue
            matches = selector.matches(candidate.metadata.labels) and (accepts is None or accepts(candidate))
            if ref is not None and matches:
                claimed.append(candidate)
                continue
            try:
                if await self._reconcile(candidate, matches=matches):
                    claimed.append(candidate)
            except ApiError as e:
                failure = failure or e
        if failure is not None:
            raise failure
        return claimed

    async def _reconcile(self, candidate: T, *, matches: bool) -> bool:
        """Adopt or release an object if it is time to; report whether it is owned now."""
        if self._owner.metadata.is_deleting:
            return False
        meta = candidate.metadata
        if not matches:
            if meta.controller is not None:
                await self._release(meta)
            return False
        if meta.is_deleting or meta.namespace != self._owner.metadata.namespace:
            return False
        return await self._adopt(meta)

    async def _adopt(self, meta: ObjectMeta) -> bool:
        if not self._checked:
            self._can_adopt()
            self._checked = True
        try:
            await self._patch(meta.namespace, meta.name, adoption_patch(self._owner, meta.uid, self._finalizers))
        except ApiError as e:
            if e.code != 404:
                raise
            return False
        return True

    async def _release(self, meta: ObjectMeta) -> None:
        patch = release_patch(self._owner.metadata.uid, meta.uid, self._finalizers)
        try:
            await self._patch(meta.namespace, meta.name, patch)
        except ApiError as e:
            # It is gone, or another object has its name: its uid is not that of the patch.
            if e.code not in (404, 422):
                raise
