"""The one pipeline of every kind: create, update, delete (apiserver `registry/generic/registry/store.go`)."""

from __future__ import annotations

import itertools
import os
import random
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.apis.registration import Registrations
from hydrofoil.engine import Draft, ListCursor, Selector, Stored
from hydrofoil.registry.fresh import judged_afresh
from hydrofoil.registry.limits import Limits
from hydrofoil.registry.namespaces import Namespaces
from hydrofoil.registry.pool import LARGE, POOLED_TRIES, Pace, run
from hydrofoil.registry.quotas import Quotas
from hydrofoil.registry.security.admission import PodSecurity
from hydrofoil.registry.strategies.base import Strategy, mark_deleted, strategies
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.errors import Conflict, Exists, Missing
from hydrofoil.storage.view import Storage

NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
NAME_TRIES = 8
BATCH = 128
"""How many objects a walk takes hold of at a time."""


def generate_name(base: str) -> str:
    """A name under a prefix (apiserver `pkg/storage/names`)."""
    return base[:58] + "".join(random.choices(NAME_LETTERS, k=5))


def check_segment(name: str) -> None:
    """Raises 400 for a name that no key of the storage can have (`path.IsValidPathSegmentName`)."""
    why = [f"may not be '{name}'"] if name in (".", "..") else [f"may not contain '{c}'" for c in "/%" if c in name]
    if why:
        raise errors.bad_request(f'Name parameter invalid: "{name}": {";".join(why)}')


def new_uid() -> str:
    """A random uid."""
    return str(uuid.UUID(bytes=os.urandom(16), version=4))


@dataclass(slots=True)
class DeleteOptions:
    """metav1.DeleteOptions, checked."""

    grace: int | None = None
    uid: str | None = None
    revision: str | None = None
    policy: str | None = None
    orphan: bool | None = None
    dry_run: bool = False


class Registry:
    """What happens to objects between the request and the store."""

    def __init__(self, catalog: Catalog, storage: Storage) -> None:
        self.catalog = catalog
        self.storage = storage
        self.registrations = Registrations()
        self.issuer = ""
        """Who issues service account tokens: a URL."""
        self._collections: dict[tuple[str, str], Collection] = {}
        self.strategies: dict[tuple[str, str], Strategy] = strategies(self)
        self.namespaces = Namespaces(self)
        self.security = PodSecurity(self)
        self.limits = Limits(self)
        self.quotas = Quotas(self)

    def collection(self, resource: Resource) -> Collection:
        """The objects of a resource."""
        found = self._collections.get(resource.storage)
        if found is None:
            found = self._collections[resource.storage] = self.storage.collection(resource.storage, resource.native)
        return found

    async def follow(self) -> None:
        """Follow all that is served where that has to be loaded. Raises what keeps the log from it."""
        if self.storage.direct:
            # History of a collection begins with its first use: an older version than that has expired.
            return
        for resource in self.catalog.resources():
            if "list" in resource.verbs:
                self.collection(resource)
        await self.storage.wait()

    def get(self, resource: Resource, namespace: str, name: str) -> Stored:
        """The present version of an object. Raises 404."""
        stored = self.collection(resource).get(resource.native, namespace, name)
        if stored is None:
            check_segment(name)
            raise errors.not_found(resource.group, resource.plural, name)
        return stored

    async def show(self, resource: Resource, stored: list[Stored]) -> None:
        """Convert objects that a webhook must convert before they are shown. Raises 500."""
        if resource.webhook is not None and stored:
            await resource.webhook.show(stored, resource.api_version)

    async def _store(self, resource: Resource, draft: Draft) -> None:
        """Convert an object that a webhook must convert before it is stored. Raises 500."""
        if resource.webhook is not None and resource.storage_version is not None:
            group, version, _ = resource.storage_version
            await resource.webhook.store(draft, f"{group}/{version}")

    async def _finish(self, resource: Resource, draft: Draft, *, pooled: bool) -> None:
        """Put a draft into the form that is stored; a large one off the loop."""
        await self._store(resource, draft)
        if pooled:
            await run(draft.seal, pooled=True)

    async def _change(
        self,
        resource: Resource,
        old: Stored,
        change: Callable[[Stored], Awaitable[Draft] | Draft],
        *,
        subresource: str,
        patch: bool,
        manager: str,
        pooled: bool,
        warnings: list[str],
    ) -> tuple[Draft, str]:
        """What an update makes of the present version, with the server's metadata; and the version that it names."""
        made = await run(change, old, pooled=pooled)
        draft = made if isinstance(made, Draft) else await made
        given = draft.head()[6]
        self._check_version(resource, old.name, old, draft, patch=patch)
        if twice := draft.dedup_owners():
            warnings.append(DUPLICATE_OWNERS + ", ".join(twice))
        strategy = self.strategy(resource)
        if pooled:
            await run(draft.begin_update, old, subresource, manager, pooled=True)
            strategy.admit_update(old, draft, subresource)
            await run(draft.prepare_update, old, subresource, pooled=True)
        else:
            draft.begin_update(old, subresource, manager)
            strategy.admit_update(old, draft, subresource)
            draft.prepare_update(old, subresource)
        return draft, given

    def traits(self, resource: Resource) -> tuple[bool, bool, bool, bool]:
        """Create on update, unconditional update, returns the deleted object, graceful deletion."""
        if resource.traits is None:
            resource.traits = resource.native.traits()
        return resource.traits

    def strategy(self, resource: Resource) -> Strategy:
        """What the kind does differently."""
        return self.strategies.get(resource.storage) or self.strategies[("", "")]

    def all(self, resource: Resource, namespace: str = "") -> list[Stored]:
        """Every object, for loops inside the server."""
        return self._cursor(resource, namespace).versions(2**31)

    def _cursor(self, resource: Resource, namespace: str) -> ListCursor:
        everything = Selector(resource.native, namespace, "", "")
        return self.collection(resource).list(resource.native, everything, "json", 0, 0, "")

    async def walk(self, resource: Resource, namespace: str = "", pace: Pace | None = None) -> AsyncIterator[Stored]:
        """Every object of this moment, with pauses, for loops inside the server that may be long."""
        pace = pace or Pace()
        cursor = self._cursor(resource, namespace)
        while batch := cursor.versions(BATCH):
            for stored in batch:
                await pace.rest()
                yield stored

    @judged_afresh
    async def create(
        self,
        resource: Resource,
        namespace: str,
        draft: Draft,
        *,
        dry_run: bool = False,
        manager: str = "",
        updated: bool = False,
        sent: int = 0,
        warnings: list[str],
    ) -> Stored:
        """Stores a new object, or shows what would be stored; `updated`: an update or apply finds none there.

        What an update makes may name a version, which only of new objects is refused. `sent` is how many bytes the
        draft was made of, 0 when work on it may not leave the loop.
        """
        pooled = sent > LARGE
        _, _, name, base, _, _, version = draft.head()
        self._check_place(resource, namespace, name, base)
        if twice := draft.dedup_owners():
            warnings.append(DUPLICATE_OWNERS + ", ".join(twice))
        digits = version.lstrip("0") if version.isascii() and version.isdigit() else ""
        strategy = self.strategy(resource)
        for attempt in range(NAME_TRIES):
            made = name or (base if not base or strategy.prefix_is_name else generate_name(base))
            if pooled:
                await run(draft.begin_create, namespace, made, new_uid(), manager, pooled=True)
            else:
                draft.begin_create(namespace, made, new_uid(), manager)
            undo = await strategy.before_create(resource, draft, dry_run=dry_run)
            try:
                causes = strategy.extra_causes(resource, namespace, draft)
                if causes := causes + (await run(draft.validate, pooled=True) if pooled else draft.validate()):
                    shown = made or draft.head()[2]
                    raise errors.invalid(resource.storage_group, named_kind(resource, draft), shown, causes)
                strategy.admit_valid(resource, None, draft, "")
                warnings += draft.warnings() + await self.security.check(resource, draft, None, "")
                if resource.namespaced:
                    await self.quotas.charge(resource, None, draft, "", dry_run=dry_run)
                if dry_run:
                    if self.collection(resource).get(resource.native, namespace, made) is not None:
                        raise Exists
                    undo()
                    return draft.preview(int(digits or 0))
                if digits and not updated:
                    raise errors.ApiError(500, "", "resourceVersion should not be set on objects to be created")
                if pooled or resource.webhook is not None:
                    await self._finish(resource, draft, pooled=pooled)
                stored = await self.collection(resource).create(draft)
            except Exists:
                undo()
                if not base:
                    raise self._exists(resource, namespace, name) from None
                if made == name or attempt == NAME_TRIES - 1:
                    break
                continue
            except BaseException:
                undo()
                raise
            # From here on what was allocated belongs to the object, whatever becomes of the request.
            await strategy.after_create(resource, stored)
            if resource.webhook is not None:
                await self.show(resource, [stored])
            return stored
        error = errors.already_exists(resource.group, resource.plural, made)
        error.message += ", the server was not able to generate a unique name for the object"
        error.retry_after = 1
        raise error

    def _check_place(self, resource: Resource, namespace: str, name: str, base: str) -> None:
        """Raises 403 and 404 where nothing new may be stored."""
        if resource.namespaced:
            self.namespaces.check(resource, namespace, name or base)
        if resource.terminating:
            why = "create not allowed while custom resource definition is terminating"
            raise errors.forbidden(resource.group, resource.plural, name, why)

    def _exists(self, resource: Resource, namespace: str, name: str) -> errors.ApiError:
        old = self.collection(resource).get(resource.native, namespace, name)
        terminating = old is not None and old.thaw().lifecycle()[1]
        prefix = "object is being deleted: " if terminating else ""
        return errors.already_exists(resource.group, resource.plural, name, prefix)

    @judged_afresh
    async def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        change: Callable[[Stored], Awaitable[Draft] | Draft],
        *,
        subresource: str = "",
        dry_run: bool = False,
        validate: bool = True,
        patch: bool = False,
        manager: str = "",
        sent: int = 0,
        warnings: list[str],
    ) -> Stored:
        """Replaces an object by what `change` makes of the present version; again when another write came between.

        A draft with a resourceVersion must match the present one: that conflict is the caller's. `sent` is how many
        bytes `change` works on besides the object, 0 when it may not leave the loop.
        """
        collection = self.collection(resource)
        departures = itertools.repeat(True, POOLED_TRIES)
        while True:
            old = self.get(resource, namespace, name)
            if resource.webhook is not None:
                await self.show(resource, [old])
            pooled = sent > 0 and sent + old.size > LARGE and next(departures, False)
            draft, given = await self._change(
                resource,
                old,
                change,
                subresource=subresource,
                patch=patch,
                manager=manager,
                pooled=pooled,
                warnings=warnings,
            )
            strategy = self.strategy(resource)
            undo = await strategy.before_update(resource, old, draft, subresource, dry_run=dry_run)
            try:
                if validate and (causes := await run(draft.validate, old, subresource, pooled=pooled)):
                    raise errors.invalid(resource.storage_group, named_kind(resource, draft), name, causes)
                strategy.admit_valid(resource, old, draft, subresource)
                kind_warnings = draft.warnings(old, subresource)
                kind_warnings += await self.security.check(resource, draft, old, subresource)
                if resource.namespaced:
                    await self.quotas.charge(resource, old, draft, subresource, dry_run=dry_run)
                if dry_run:
                    undo()
                    warnings += kind_warnings
                    return draft.preview(old.revision)
                if gone := strategy.gone(draft):
                    stored = await collection.delete(old)
                    # What this update allocated no object holds.
                    undo()
                else:
                    if pooled or resource.webhook is not None:
                        await self._finish(resource, draft, pooled=pooled)
                    stored = await collection.update(old, draft)
            except Conflict:
                undo()
                # A version that a patch brings is compared anew by the next try.
                if given and not patch:
                    raise errors.conflict(resource.group, resource.plural, name, errors.MODIFIED) from None
                continue
            except Missing:
                undo()
                raise errors.not_found(resource.group, resource.plural, name) from None
            except BaseException:
                undo()
                raise
            if gone:
                await strategy.after_delete(resource, old)
                return draft.preview(stored.revision)
            warnings += kind_warnings
            await strategy.after_update(resource, old, stored)
            if resource.webhook is not None:
                await self.show(resource, [stored])
            return stored

    def _check_version(self, resource: Resource, name: str, old: Stored, draft: Draft, *, patch: bool) -> None:
        uid, version = draft.head()[5:7]
        if version:
            if not (version.isascii() and version.isdigit()):
                raise errors.unparsable_version(version, "invalid syntax")
            digits = version.lstrip("0")
            if len(digits) > 20 or int(digits or "0") >= 2**64:
                raise errors.unparsable_version(version, "value out of range")
            version = digits
        if uid and not patch:
            # A PUT names the object that it means; what a patch makes of the uid is validated.
            present = old.uid
            if uid != present:
                why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {present}"
                raise errors.conflict(resource.group, resource.plural, name, storage_error(resource, old, why))
        if not version:
            if not self.traits(resource)[1]:
                cause = (
                    "FieldValueInvalid",
                    "Invalid value: 0: must be specified for an update",
                    "metadata.resourceVersion",
                )
                raise errors.invalid(resource.group, resource.plural, name, [cause])
        elif int(version) != old.revision:
            raise errors.conflict(resource.group, resource.plural, name, errors.MODIFIED)

    @judged_afresh
    async def delete(
        self, resource: Resource, namespace: str, name: str, options: DeleteOptions
    ) -> tuple[Stored, bool]:
        """Deletes an object or begins to: the object, and whether it is gone (DEL-01 to DEL-07)."""
        collection = self.collection(resource)
        strategy = self.strategy(resource)
        while True:
            old = self.get(resource, namespace, name)
            if resource.webhook is not None:
                await self.show(resource, [old])
            draft = old.thaw()
            self._check_preconditions(resource, name, old, draft, options)
            strategy.before_delete(resource, old, draft)
            step = strategy.begin_delete(draft, options)
            try:
                if step == "wait":
                    if collection.ready():
                        return old, False
                    # It may have gone: an answer that writes nothing has to be true, too.
                    await collection.wait()
                    continue
                if step == "remove":
                    graceful = self.traits(resource)[3]
                    if graceful:
                        # A graceful deletion is told as one even when no time is left for it.
                        mark_deleted(draft, 0)
                    if options.dry_run:
                        return draft.preview(old.revision) if graceful else old, True
                    if graceful:
                        old = await collection.update(old, draft)
                    gone = await collection.delete(old)
                    await strategy.after_delete(resource, old)
                    # What a webhook made of the object is known of the version before.
                    return old if resource.webhook else gone, True
                if options.dry_run:
                    return draft.preview(old.revision), False
                await self._store(resource, draft)
                stored = await collection.update(old, draft)
                await strategy.after_mark(resource, stored)
                await self.show(resource, [stored])
                return stored, False
            except Conflict:
                continue
            except Missing:
                raise errors.not_found(resource.group, resource.plural, name) from None

    @staticmethod
    def _check_preconditions(resource: Resource, name: str, old: Stored, draft: Draft, options: DeleteOptions) -> None:
        uid = draft.head()[5]
        if options.uid is not None and options.uid != uid:
            why = f"the UID in the precondition ({options.uid}) does not match the UID in record ({uid}). "
            raise errors.conflict(
                resource.group, resource.kind, name, why + "The object might have been deleted and then recreated"
            )
        if options.revision is not None and options.revision != str(old.revision):
            why = f"the ResourceVersion in the precondition ({options.revision}) does not match the "
            why += f"ResourceVersion in record ({old.revision}). The object might have been modified"
            raise errors.conflict(resource.group, resource.kind, name, why)


def named_kind(resource: Resource, draft: Draft) -> str:
    """The kind that an error is told of: the type of a custom resource is what it says it is."""
    return draft.head()[1] if resource.custom else resource.kind


def storage_error(resource: Resource, old: Stored, why: str) -> str:
    """How the storage tells of a precondition that does not hold, with the key it has there."""
    place = f"{old.namespace}/{old.name}" if old.namespace else old.name
    prefix = PREFIXES.get(resource.storage)
    if prefix is None:
        own = resource.group in ("apiextensions.k8s.io", "apiregistration.k8s.io")
        prefix = f"{resource.group}/{resource.plural}" if own else resource.plural
    key = f"/{prefix}/{place}"
    return f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"


PREFIXES = {
    ("", "replicationcontrollers"): "controllers",
    ("", "endpoints"): "services/endpoints",
    ("", "nodes"): "minions",
    ("", "services"): "services/specs",
    ("networking.k8s.io", "ingresses"): "ingress",
}
"""Keys of the storage that are not named after the resource (`SpecialDefaultResourcePrefixes`)."""

DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "
    "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
