"""The one pipeline of every kind: create, update, delete (apiserver `registry/generic/registry/store.go`)."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.clock import Chance, Clock
from hydrofoil.engine import Conversions, Draft, Stored
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import POOLED_TRIES, run
from hydrofoil.registry.conversions import attempted
from hydrofoil.registry.creates import check_creates
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.expressions import validate_in_turn
from hydrofoil.registry.fresh import judged_afresh
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.outcome import Made, outcome
from hydrofoil.registry.outlines import Outlines
from hydrofoil.registry.preconditions import check_deletion, check_uid, check_version
from hydrofoil.registry.strategy import Strategy, mark_deleted
from hydrofoil.registry.turns import Turns
from hydrofoil.registry.write import Operation, Write
from hydrofoil.storage.errors import Conflict, Exists, Missing, Outdated
from hydrofoil.storage.sizes import TooLarge
from hydrofoil.storage.unreadable import Unreadable
from hydrofoil.storage.view import Storage

NAME_TRIES = 8
LARGEST = (1 << 64) - 1
AT_ONCE = contextlib.nullcontext()
"""No turn: what stays on the loop is not overtaken."""
Change = Callable[[Stored], Awaitable[Draft] | Draft]
"""Return the object to write, from the present version."""


def generate_name(base: str, chance: Chance) -> str:
    """Return a name with a prefix (apiserver `pkg/storage/names`)."""
    return base[:58] + chance.letters(5)


def revision_of(version: str) -> int:
    """Return the number of a resource version; 0 for a text that upstream cannot parse into 64 bits."""
    digits = version.lstrip("0") if version.isascii() and version.isdigit() else ""
    number = int(digits) if 0 < len(digits) <= len(str(LARGEST)) else 0
    return number if number <= LARGEST else 0


class Registry(Objects):
    """Create, update and delete objects of every kind."""

    def __init__(self, catalog: Catalog, storage: Storage, clock: Clock, chance: Chance) -> None:
        super().__init__(catalog, storage, clock)
        self.chance = chance
        self._native = clock.native
        self.issuer = ""
        """The issuer of service account tokens: a URL."""
        self.strategies: dict[tuple[str, str], Strategy] = {}
        """The kinds with a strategy of their own, by group and resource."""
        self.outlines = Outlines()
        self.turns = Turns()
        """The turns of writes off the loop."""
        self._usual = Strategy(self)
        self._under_way: set[asyncio.Task[Made]] = set()

    def strategy(self, resource: Resource) -> Strategy:
        """Return the strategy of a kind."""
        return self.strategies.get(resource.storage) or self._usual

    def traits(self, resource: Resource) -> frozenset[str]:
        """Return: create on update, unconditional update, deletion returns the object, graceful deletion."""
        if resource.traits is None:
            resource.traits = frozenset(resource.native.traits())
        return resource.traits

    async def to_request_version(self, resource: Resource, stored: list[Stored]) -> None:
        """Convert objects to the requested version, if a webhook does that. Raise ApiError 500."""
        if resource.webhook is not None and stored:
            await resource.webhook.to_request_version(stored, resource.api_version)

    async def _to_storage_version(self, resource: Resource, draft: Draft) -> None:
        """Convert an object to the storage version, if a webhook does that. Raise ApiError 500."""
        if resource.webhook is not None and resource.storage_version is not None:
            group, version, _ = resource.storage_version
            await resource.webhook.to_storage_version(draft, f"{group}/{version}")

    def _begun(self, write: Write) -> int:
        """Return the epoch that a write belongs to."""
        return self.storage.epoch if write.epoch is None else write.epoch

    def _check_epoch(self, write: Write, begun: int) -> None:
        """Raise Conflict if the state was restored since a write began, Outdated if it may not begin anew."""
        if begun != self.storage.epoch:
            raise Conflict if write.epoch is None else Outdated

    async def _seal(self, resource: Resource, draft: Draft, *, pooled: bool) -> None:
        """Encode a draft in its stored form; a large one off the loop."""
        await self._to_storage_version(resource, draft)
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
        """Store a new object, or return it for a dry run; `updated`: an update or apply of an absent object.

        An object from an update may have a resource version; only a create refuses it. `sent` is the number of bytes
        the draft was made from, 0 if work on it may not leave the loop.
        """
        pooled, begun = sent > LARGE, self._begun(write)
        write.warnings += owner_warnings(draft)
        clock = self._native
        if pooled:
            version = await run(draft.default, clock, namespace, pooled=True)
        else:
            version = draft.default(clock, namespace)
        given = revision_of(version)
        if write.manager:
            if pooled:
                await run(draft.track, clock, write.manager, pooled=True)
            else:
                draft.track(clock, write.manager)
        if write.admit is not None and (waits := write.admit.mutate("CREATE", draft, None)) is not None:
            await waits
        strategy = self.strategy(resource)
        if strategy is not self._usual:
            await strategy.authorize(write, draft, None, resource.plural)
        meta = draft.metadata()
        name, base = meta.name, meta.generate_name
        if resource.terminating:
            why = "create not allowed while custom resource definition is terminating"
            raise errors.forbidden(resource.group, resource.plural, name, why)
        for _ in range(NAME_TRIES):
            made = name or (base if not base or strategy.prefix_is_name else generate_name(base, self.chance))
            # Each attempted name begins with the result of admission.
            tried = draft if name or not base else draft.fork()
            tried.fill_metadata(clock, made, self.chance.uid())
            finish = None if strategy is self._usual else await strategy.begin(write, tried, None)
            work = self._create(resource, namespace, tried, write, made, given, updated, pooled, begun)
            try:
                stored = (await work)[0] if finish is None else await outcome(work, finish, self._under_way)
            except Conflict:
                raise restored() from None
            except Exists:
                if not base:
                    raise self._exists(resource, namespace, name) from None
                if made == name:
                    break
                continue
            if not write.dry_run and strategy is not self._usual:
                await strategy.after(resource, None, stored)
            if resource.webhook is not None:
                await self.to_request_version(resource, [stored])
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
        begun: int,
    ) -> Made:
        """Prepare, check and commit a new object under one name. Raise Exists, Conflict."""
        if pooled:
            await run(draft.prepare, self._native, pooled=True)
        else:
            draft.prepare(self._native)
        causes = self.strategy(resource).extra_causes(resource, namespace, draft)
        found = None if pooled or write.slow else validate_in_turn(resource, draft)
        if found is None:
            found = await self._causes_apart(write, draft, pooled=pooled)
        if causes := causes + found:
            shown = name or draft.metadata().name
            write.warnings += draft.prepare_warnings()
            raise errors.invalid(*named_type(resource, draft), shown, causes)
        await self._check_further(resource, draft, None, write)
        write.warnings += draft.warnings()
        if updated:
            await check_creates(resource, namespace, write)
        if write.admit is not None and (waits := write.admit.validate("CREATE", draft, None)) is not None:
            await waits
        if write.dry_run:
            if self.collection(resource).get(resource.native, namespace, name) is not None:
                raise Exists
            await self._to_storage_version(resource, draft)
            return draft.preview(version), False
        if version and not updated:
            raise errors.ApiError(500, "", "resourceVersion should not be set on objects to be created")
        if pooled or resource.webhook is not None:
            await self._seal(resource, draft, pooled=pooled)
        self._check_epoch(write, begun)
        collection = self.collection(resource)
        try:
            return await collection.create(draft), True
        except TooLarge:
            if not write.manager:
                raise
            await self._lighten(resource, draft)
            return await collection.create(draft), True

    async def _lighten(self, resource: Resource, draft: Draft) -> None:
        """Remove the managed fields of an object that is too large with them (apiserver `isTooLargeError`)."""
        draft.set(["metadata", "managedFields"], None)
        await self._seal(resource, draft, pooled=True)

    async def _causes_apart(
        self, write: Write, draft: Draft, old: Stored | None = None, subresource: str = "", *, pooled: bool
    ) -> list[errors.Cause]:
        """Validate a draft off the loop: it is large, or its rules took too long."""
        write.slow = write.slow or not pooled
        return await run(draft.validate_apart, old, subresource, pooled=True)

    async def _check_further(self, resource: Resource, draft: Draft, old: Stored | None, write: Write) -> None:
        """Check what a valid object requires of the user of a write. Raise ApiError 422."""
        strategy = self.strategy(resource)
        if strategy is not self._usual and (causes := await strategy.further_causes(write, draft, old)):
            name = draft.metadata().name
            raise errors.invalid(*named_type(resource, draft), name, causes)

    def _exists(self, resource: Resource, namespace: str, name: str) -> errors.ApiError:
        old = None
        with contextlib.suppress(Unreadable):
            old = self.collection(resource).get(resource.native, namespace, name)
        terminating = old is not None and old.thaw().lifecycle().deletion_timestamp
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
        """Replace an object by the result of `change` on the present version; again after a conflict.

        The resource version of a draft must match the present one: that conflict is the caller's. `sent` is the number
        of bytes `change` processes beside the object, 0 if it may not leave the loop.
        """
        strategy = self.strategy(resource)
        departures = itertools.repeat(True, POOLED_TRIES)
        while True:
            try:
                old, begun = self.get(resource, namespace, name), self._begun(write)
            except Unreadable as e:
                raise self.storage.words.changed(e.fault) from None
            pooled = sent > 0 and sent + old.size > LARGE and next(departures, False)
            leaves = pooled or write.slow
            async with self.turns.of((resource.storage, namespace, name)) if leaves else AT_ONCE:
                if leaves:
                    # As the turns before left it.
                    old = self.get(resource, namespace, name)
                if resource.webhook is not None:
                    await self.to_request_version(resource, [old])
                draft, given = await self._change(resource, old, change, write, patch=patch, pooled=pooled)
                finish = None if strategy is self._usual else await strategy.begin(write, draft, old)
                work = self._replace(resource, old, draft, write, validate, pooled, begun)
                try:
                    stored = (await work)[0] if finish is None else await outcome(work, finish, self._under_way)
                except Conflict:
                    # The version in a patch is compared again by the next attempt.
                    if given and not patch:
                        raise errors.conflict(resource.group, resource.plural, name, errors.MODIFIED) from None
                    continue
                except Missing:
                    raise errors.not_found(resource.group, resource.plural, name) from None
            gone = not write.dry_run and strategy.gone(draft)
            if not write.dry_run and strategy is not self._usual:
                await strategy.after(resource, old, None if gone else stored)
            if resource.webhook is not None and not gone:
                await self.to_request_version(resource, [stored])
            return stored

    async def _change(
        self, resource: Resource, old: Stored, change: Change, write: Write, *, patch: bool, pooled: bool
    ) -> tuple[Draft, str]:
        """Return the changed object with the server's metadata, and the resource version that it requires."""
        made = await run(change, old, pooled=True) if pooled else change(old)
        draft = made if isinstance(made, Draft) else await made
        meta = draft.metadata()
        uid, given = meta.uid, meta.resource_version
        if uid and not patch:
            # A PUT identifies its object by UID; a UID from a patch is validated.
            check_uid(resource, old.name, old, uid)
        write.warnings += owner_warnings(draft)
        if pooled:
            await run(draft.default, self._native, pooled=True)
        else:
            draft.default(self._native)
        if write.manager:
            if resource.webhook is not None:

                def track(known: Conversions | None) -> None:
                    draft.track(self._native, write.manager, old, write.subresource, known)

                await attempted(resource.webhook, track, pooled=pooled)
            elif pooled:
                await run(draft.track, self._native, write.manager, old, write.subresource, pooled=True)
            else:
                draft.track(self._native, write.manager, old, write.subresource)
        if write.admit is not None and (waits := write.admit.mutate("UPDATE", draft, old)) is not None:
            await waits
            given = draft.metadata().resource_version
        strategy = self.strategy(resource)
        if strategy is not self._usual:
            await strategy.authorize(write, draft, old, resource.plural)
        check_version(resource, old.name, old, given, unconditional="unconditional_update" in self.traits(resource))
        draft.keep_metadata(old)
        return draft, given

    async def _replace(
        self,
        resource: Resource,
        old: Stored,
        draft: Draft,
        write: Write,
        validate: bool,
        pooled: bool,
        begun: int,
    ) -> Made:
        """Prepare, check and commit an update. Raise Conflict and Missing."""
        subresource = write.subresource
        causes: list[errors.Cause] | None = None if validate else []
        if pooled:
            await run(draft.prepare, self._native, old, subresource, pooled=True)
        else:
            draft.prepare(self._native, old, subresource)
            if validate and not write.slow:
                causes = validate_in_turn(resource, draft, old, subresource)
        if causes is None:
            causes = await self._causes_apart(write, draft, old, subresource, pooled=pooled)
        if causes:
            raise errors.invalid(*named_type(resource, draft), old.name, causes)
        await self._check_further(resource, draft, old, write)
        write.warnings += draft.warnings(old, subresource)
        if write.admit is not None and (waits := write.admit.validate("UPDATE", draft, old)) is not None:
            await waits
        if write.dry_run:
            await self._to_storage_version(resource, draft)
            return draft.preview(old.revision), False
        collection = self.collection(resource)
        if self.strategy(resource).gone(draft):
            self._check_epoch(write, begun)
            # The failed update's allocations are in no object.
            return draft.preview((await collection.delete(old)).revision), False
        if pooled or resource.webhook is not None:
            await self._seal(resource, draft, pooled=pooled)
        self._check_epoch(write, begun)
        try:
            return await collection.update(old, draft), True
        except TooLarge:
            if not write.manager:
                # An apply is nothing without its fields.
                raise
            await self._lighten(resource, draft)
            return await collection.update(old, draft), True

    @judged_afresh
    async def discard(self, resource: Resource, namespace: str, name: str) -> bool:
        """Delete an object whose value cannot be read, without a look at finalizers, preconditions or admission.

        Return False for every other one (DEL-09; kube-apiserver 1.36 refuses it, see `registry/generic/registry/
        corrupt_obj_deleter.go`).
        """
        collection = self.collection(resource)
        while True:
            if not collection.ready():
                await collection.wait()
            fault = collection.fault(namespace, name)
            if fault is None:
                return False
            try:
                await collection.discard(resource.native, namespace, name, fault)
            except Conflict:
                continue
            except Missing:
                pass
            return True

    @judged_afresh
    async def delete(
        self, resource: Resource, namespace: str, name: str, options: DeleteOptions, write: Write
    ) -> tuple[Stored, bool]:
        """Delete an object or begin to; return it, and whether it is removed (DEL-01 to DEL-07)."""
        departures = itertools.repeat(True, POOLED_TRIES)
        while True:
            old, begun = self.get(resource, namespace, name), self._begun(write)
            if resource.webhook is not None:
                await self.to_request_version(resource, [old])
            pooled = old.size > LARGE and next(departures, False)
            draft = await run(old.thaw, pooled=pooled)
            check_deletion(resource, name, old, draft, options)
            if write.admit is not None:
                strategy = self.strategy(resource)
                options.period = strategy.grace_period(draft, options)
                options.own_uid = old.uid if strategy.deletes_by_uid else None
                operation: Operation = "DELETE"
                for judge in (write.admit.mutate, write.admit.validate):
                    if (waits := judge(operation, None, old)) is not None:
                        await waits
            try:
                self._check_epoch(write, begun)
                return await self._delete(resource, old, draft, options, pooled)
            except Conflict:
                continue
            except Missing:
                raise errors.not_found(resource.group, resource.plural, name) from None

    async def _delete(
        self, resource: Resource, old: Stored, draft: Draft, options: DeleteOptions, pooled: bool
    ) -> tuple[Stored, bool]:
        """Remove an object, or mark it as being deleted. Raise Conflict and Missing."""
        collection = self.collection(resource)
        strategy = self.strategy(resource)
        step = strategy.begin_delete(draft, options)
        if step == "wait":
            # It may have been removed: an answer without a write must be correct, too.
            return await collection.confirm(old), False
        if step == "remove":
            graceful = "graceful_deletion" in self.traits(resource)
            if graceful:
                # A graceful deletion is reported as such even if its period is zero.
                mark_deleted(self.clock, draft, 0)
            if options.dry_run:
                return draft.preview(old.revision) if graceful else old, True
            if graceful:
                if pooled:
                    await run(draft.seal, pooled=True)
                old = await collection.update(old, draft)
            gone = await collection.delete(old)
            await strategy.after(resource, old, None)
            # Reuse the webhook's conversion of the former version.
            return old if resource.webhook else gone, True
        if options.dry_run:
            return draft.preview(old.revision), False
        await self._seal(resource, draft, pooled=pooled)
        stored = await collection.update(old, draft)
        await strategy.after_mark(resource, stored)
        await self.to_request_version(resource, [stored])
        return stored, False


def restored() -> errors.ApiError:
    """Return the 503 for a creation that began before a restore: its checks may not hold any more."""
    return errors.ApiError(503, "ServiceUnavailable", "the state was restored meanwhile", {}, retry_after=1)


def named_type(resource: Resource, draft: Draft) -> tuple[str, str]:
    """Return group and kind for an error: for a custom resource, those in the object."""
    if not resource.custom:
        return resource.storage_group, resource.kind
    meta = draft.metadata()
    return meta.api_version.rpartition("/")[0], meta.kind


def owner_warnings(draft: Draft) -> list[str]:
    """Remove owners that are there twice; return the warnings of it."""
    twice = draft.dedup_owners()
    return [DUPLICATE_OWNERS + ", ".join(twice)] if twice else []


DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "
    "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)
