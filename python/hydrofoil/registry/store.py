"""The one pipeline of every kind: create, update, delete (apiserver `registry/generic/registry/store.go`)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.apis.registration import Registrations
from hydrofoil.clock import Chance, Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.fresh import judged_afresh
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.outcome import Made, outcome
from hydrofoil.registry.pool import LARGE, POOLED_TRIES, run
from hydrofoil.registry.preconditions import check_deletion, check_uid, check_version
from hydrofoil.registry.strategies.base import Strategy, mark_deleted
from hydrofoil.registry.write import Operation, Write
from hydrofoil.storage.errors import Conflict, Exists, Missing
from hydrofoil.storage.view import Storage

NAME_TRIES = 8
Change = Callable[[Stored], Awaitable[Draft] | Draft]
"""What makes of the present version what is to be written."""


def generate_name(base: str, chance: Chance) -> str:
    """A name under a prefix (apiserver `pkg/storage/names`)."""
    return base[:58] + chance.letters(5)


class Registry(Objects):
    """What happens to objects between the request and the store."""

    def __init__(self, catalog: Catalog, storage: Storage, clock: Clock, chance: Chance) -> None:
        super().__init__(catalog, storage, clock)
        self.chance = chance
        self._native = clock.native
        self.registrations = Registrations()
        self.issuer = ""
        """Who issues service account tokens: a URL."""
        self.strategies: dict[tuple[str, str], Strategy] = {}
        """The kinds that do something differently, by group and resource."""
        self._usual = Strategy(self)
        self._under_way: set[asyncio.Task[Made]] = set()

    def strategy(self, resource: Resource) -> Strategy:
        """What the kind does differently."""
        return self.strategies.get(resource.storage) or self._usual

    def traits(self, resource: Resource) -> tuple[bool, bool, bool, bool]:
        """Create on update, unconditional update, returns the deleted object, graceful deletion."""
        if resource.traits is None:
            resource.traits = resource.native.traits()
        return resource.traits

    async def show(self, resource: Resource, stored: list[Stored]) -> None:
        """Convert objects that a webhook must convert before they are shown. Raises 500."""
        if resource.webhook is not None and stored:
            await resource.webhook.show(stored, resource.api_version)

    async def _store(self, resource: Resource, draft: Draft) -> None:
        """Convert an object that a webhook must convert before it is stored. Raises 500."""
        if resource.webhook is not None and resource.storage_version is not None:
            group, version, _ = resource.storage_version
            await resource.webhook.store(draft, f"{group}/{version}")

    async def _seal(self, resource: Resource, draft: Draft, *, pooled: bool) -> None:
        """Put a draft into the form that is stored; a large one off the loop."""
        await self._store(resource, draft)
        if pooled:
            await run(draft.seal, pooled=True)

    @judged_afresh
    async def create(
        self,
        resource: Resource,
        namespace: str,
        draft: Draft,
        write: Write,
        *,
        updated: bool = False,
        sent: int = 0,
    ) -> Stored:
        """Stores a new object, or shows what would be stored; `updated`: an update or apply finds none there.

        What an update makes may name a version, which only of new objects is refused. `sent` is how many bytes the
        draft was made of, 0 when work on it may not leave the loop.
        """
        pooled = sent > LARGE
        if twice := draft.dedup_owners():
            write.warnings.append(DUPLICATE_OWNERS + ", ".join(twice))
        clock = self._native
        if pooled:
            version = await run(draft.default, clock, namespace, pooled=True)
        else:
            version = draft.default(clock, namespace)
        digits = version.lstrip("0") if version.isascii() and version.isdigit() else ""
        if write.manager:
            if pooled:
                await run(draft.track, clock, write.manager, pooled=True)
            else:
                draft.track(clock, write.manager)
        if write.admit is not None and (waits := write.admit.mutate("CREATE", draft, None)) is not None:
            await waits
        name, base = draft.head()[2:4]
        if resource.terminating:
            why = "create not allowed while custom resource definition is terminating"
            raise errors.forbidden(resource.group, resource.plural, name, why)
        strategy = self.strategy(resource)
        for _ in range(NAME_TRIES):
            made = name or (base if not base or strategy.prefix_is_name else generate_name(base, self.chance))
            # Each name that is tried begins from what admission left.
            tried = draft if name or not base else draft.fork()
            tried.fill_metadata(clock, made, self.chance.uid())
            finish = None if strategy is self._usual else await strategy.begin(write, tried, None)
            work = self._create(resource, namespace, tried, write, made, int(digits or 0), updated, pooled)
            try:
                stored = (await work)[0] if finish is None else await outcome(work, finish, self._under_way)
            except Exists:
                if not base:
                    raise self._exists(resource, namespace, name) from None
                if made == name:
                    break
                continue
            if not write.dry_run:
                if strategy is not self._usual:
                    await strategy.after(resource, None, stored)
                if resource.webhook is not None:
                    await self.show(resource, [stored])
            return stored
        error = errors.already_exists(resource.group, resource.plural, made)
        error.message += ", the server was not able to generate a unique name for the object"
        error.retry_after = 1
        raise error

    async def _create(
        self,
        resource: Resource,
        namespace: str,
        draft: Draft,
        write: Write,
        name: str,
        version: int,
        updated: bool,
        pooled: bool,
    ) -> Made:
        """Prepare, check and commit a new object under one name. Raises Exists."""
        if pooled:
            await run(draft.prepare, self._native, pooled=True)
        else:
            draft.prepare(self._native)
        causes = self.strategy(resource).extra_causes(resource, namespace, draft)
        if causes := causes + (await run(draft.validate, pooled=True) if pooled else draft.validate()):
            shown = name or draft.head()[2]
            raise errors.invalid(resource.storage_group, named_kind(resource, draft), shown, causes)
        write.warnings += draft.warnings()
        if write.admit is not None and (waits := write.admit.validate("CREATE", draft, None)) is not None:
            await waits
        if write.dry_run:
            if self.collection(resource).get(resource.native, namespace, name) is not None:
                raise Exists
            return draft.preview(version), False
        if version and not updated:
            raise errors.ApiError(500, "", "resourceVersion should not be set on objects to be created")
        if pooled or resource.webhook is not None:
            await self._seal(resource, draft, pooled=pooled)
        return await self.collection(resource).create(draft), True

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
        change: Change,
        write: Write,
        *,
        validate: bool = True,
        patch: bool = False,
        sent: int = 0,
    ) -> Stored:
        """Replaces an object by what `change` makes of the present version; again when another write came between.

        A draft with a resourceVersion must match the present one: that conflict is the caller's. `sent` is how many
        bytes `change` works on besides the object, 0 when it may not leave the loop.
        """
        strategy = self.strategy(resource)
        departures = itertools.repeat(True, POOLED_TRIES)
        while True:
            old = self.get(resource, namespace, name)
            if resource.webhook is not None:
                await self.show(resource, [old])
            pooled = sent > 0 and sent + old.size > LARGE and next(departures, False)
            draft, given = await self._change(resource, old, change, write, patch=patch, pooled=pooled)
            finish = None if strategy is self._usual else await strategy.begin(write, draft, old)
            work = self._replace(resource, old, draft, write, validate, pooled)
            try:
                stored = (await work)[0] if finish is None else await outcome(work, finish, self._under_way)
            except Conflict:
                # A version that a patch brings is compared anew by the next try.
                if given and not patch:
                    raise errors.conflict(resource.group, resource.plural, name, errors.MODIFIED) from None
                continue
            except Missing:
                raise errors.not_found(resource.group, resource.plural, name) from None
            if not write.dry_run:
                gone = strategy.gone(draft)
                if strategy is not self._usual:
                    await strategy.after(resource, old, None if gone else stored)
                if resource.webhook is not None and not gone:
                    await self.show(resource, [stored])
            return stored

    async def _change(
        self, resource: Resource, old: Stored, change: Change, write: Write, *, patch: bool, pooled: bool
    ) -> tuple[Draft, str]:
        """What an update makes of the present version, with the server's metadata; and the version that it names."""
        made = await run(change, old, pooled=True) if pooled else change(old)
        draft = made if isinstance(made, Draft) else await made
        uid, given = draft.head()[5:7]
        if uid and not patch:
            # A PUT names the object that it means; what a patch makes of the uid is validated.
            check_uid(resource, old.name, old, uid)
        if twice := draft.dedup_owners():
            write.warnings.append(DUPLICATE_OWNERS + ", ".join(twice))
        if pooled:
            await run(draft.default, self._native, pooled=True)
        else:
            draft.default(self._native)
        if write.manager:
            if pooled:
                await run(draft.track, self._native, write.manager, old, write.subresource, pooled=True)
            else:
                draft.track(self._native, write.manager, old, write.subresource)
        if write.admit is not None and (waits := write.admit.mutate("UPDATE", draft, old)) is not None:
            await waits
        check_version(resource, old.name, old, given, unconditional=self.traits(resource)[1])
        draft.keep_metadata(old)
        return draft, given

    async def _replace(
        self, resource: Resource, old: Stored, draft: Draft, write: Write, validate: bool, pooled: bool
    ) -> Made:
        """Prepare, check and commit an update. Raises Conflict and Missing."""
        subresource = write.subresource
        causes: list[errors.Cause] = []
        if pooled:
            await run(draft.prepare, self._native, old, subresource, pooled=True)
            if validate:
                causes = await run(draft.validate, old, subresource, pooled=True)
        else:
            draft.prepare(self._native, old, subresource)
            if validate:
                causes = draft.validate(old, subresource)
        if causes:
            raise errors.invalid(resource.storage_group, named_kind(resource, draft), old.name, causes)
        write.warnings += draft.warnings(old, subresource)
        if write.admit is not None and (waits := write.admit.validate("UPDATE", draft, old)) is not None:
            await waits
        if write.dry_run:
            return draft.preview(old.revision), False
        collection = self.collection(resource)
        if self.strategy(resource).gone(draft):
            # What this update allocated no object holds.
            return draft.preview((await collection.delete(old)).revision), False
        if pooled or resource.webhook is not None:
            await self._seal(resource, draft, pooled=pooled)
        return await collection.update(old, draft), True

    @judged_afresh
    async def delete(
        self, resource: Resource, namespace: str, name: str, options: DeleteOptions, write: Write
    ) -> tuple[Stored, bool]:
        """Deletes an object or begins to: the object, and whether it is gone (DEL-01 to DEL-07)."""
        while True:
            old = self.get(resource, namespace, name)
            if resource.webhook is not None:
                await self.show(resource, [old])
            draft = old.thaw()
            check_deletion(resource, name, old, draft, options)
            if write.admit is not None:
                operation: Operation = "DELETE"
                for judge in (write.admit.mutate, write.admit.validate):
                    if (waits := judge(operation, None, old)) is not None:
                        await waits
            try:
                return await self._delete(resource, old, draft, options)
            except Conflict:
                continue
            except Missing:
                raise errors.not_found(resource.group, resource.plural, name) from None

    async def _delete(
        self, resource: Resource, old: Stored, draft: Draft, options: DeleteOptions
    ) -> tuple[Stored, bool]:
        """Take an object out, or write that it is being deleted. Raises Conflict and Missing."""
        collection = self.collection(resource)
        strategy = self.strategy(resource)
        step = strategy.begin_delete(draft, options)
        if step == "wait":
            if not collection.ready():
                # It may have gone: an answer that writes nothing has to be true, too.
                await collection.wait()
                raise Conflict
            return old, False
        if step == "remove":
            graceful = self.traits(resource)[3]
            if graceful:
                # A graceful deletion is told as one even when no time is left for it.
                mark_deleted(self.clock, draft, 0)
            if options.dry_run:
                return draft.preview(old.revision) if graceful else old, True
            if graceful:
                old = await collection.update(old, draft)
            gone = await collection.delete(old)
            await strategy.after(resource, old, None)
            # What a webhook made of the object is known of the version before.
            return old if resource.webhook else gone, True
        if options.dry_run:
            return draft.preview(old.revision), False
        await self._store(resource, draft)
        stored = await collection.update(old, draft)
        await strategy.after_mark(resource, stored)
        await self.show(resource, [stored])
        return stored, False


def named_kind(resource: Resource, draft: Draft) -> str:
    """The kind that an error is told of: the type of a custom resource is what it says it is."""
    return draft.head()[1] if resource.custom else resource.kind


DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "
    "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
