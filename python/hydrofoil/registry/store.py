"""The one pipeline of every kind: create, update, delete (apiserver `registry/generic/registry/store.go`).

Here is the order of awaits; the steps between them are native (`registry/session.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.clock import Chance, Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.pool import run
from hydrofoil.registry import names
from hydrofoil.registry.fresh import rechecked
from hydrofoil.registry.immediate import Immediate
from hydrofoil.registry.object_locks import ObjectLocks
from hydrofoil.registry.outcome import Made, outcome
from hydrofoil.registry.outlines import Outlines
from hydrofoil.registry.preconditions import check_uid, check_version
from hydrofoil.registry.rights import check_create
from hydrofoil.registry.session import Attempt, duplicate_owners, invalid, state_restored
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Conflict, Exists, Missing
from hydrofoil.storage.storage import Storage
from hydrofoil.storage.unreadable import Unreadable

UNLOCKED = contextlib.nullcontext()
"""In place of a lock: what stays on the loop is not overtaken."""
Change = Callable[[Stored], Awaitable[Draft] | Draft]
"""Return the object to write, from the present version."""


class Registry(Immediate):
    """Create and update objects of every kind; their deletion, and writes that wait for nobody, are in its bases."""

    def __init__(self, catalog: Catalog, storage: Storage, clock: Clock, chance: Chance) -> None:
        super().__init__(catalog, storage, clock, chance)
        self.activity.progress = lambda: storage.revision
        # A seed repeats what happens: what has failed is repeated by the state, and not by the machine's time.
        self.activity.is_ordered = chance.seeded
        self.outlines = Outlines()
        self.locks = ObjectLocks()
        """The locks of objects that writes off the loop change."""
        self._under_way: set[asyncio.Task[Made]] = set()

    @rechecked
    async def create(self, resource: Resource, namespace: str, draft: Draft, write: Write) -> Stored:
        """Store a new object, or return it for a dry run.

        An object from an update or apply (`write.creates`) may have a resource version; only a create refuses it.
        """
        attempt = self.attempt(resource, namespace, write, write.sent)
        step = draft.read_new(self.native, namespace, write.manager)
        read = self.here(attempt, step) or await self.take(attempt, step)
        attempt.version = read.revision
        if read.duplicates:
            write.warnings.append(duplicate_owners(read.duplicates))
        if write.admit is not None and (waits := write.admit.mutate("CREATE", draft, None)) is not None:
            await waits
        strategy = attempt.strategy
        if strategy is not self.plain:
            await strategy.authorize(write, draft, None, resource.plural)
        given, prefix = draft.names
        if resource.terminating:
            why = "create not allowed while custom resource definition is terminating"
            raise errors.forbidden(resource.group, resource.plural, given, why)
        name = given
        for name in names.candidates(given, prefix, self.chance, prefix_is_name=strategy.prefix_is_name):
            # Each attempted name begins with the result of admission.
            tried = draft if given or not prefix else draft.fork()
            tried.fill_metadata(self.native, name, self.chance.uid())
            finish = None if strategy is self.plain else await strategy.begin(write, tried, None)
            work = self._create(attempt, tried, name)
            try:
                stored = (await work)[0] if finish is None else await outcome(work, finish, self._under_way)
            except Conflict:
                raise state_restored() from None
            except Exists:
                if not prefix:
                    raise names.already_exists(self, resource, namespace, name) from None
                continue
            if not write.dry_run and strategy is not self.plain:
                await strategy.after(resource, None, stored)
            if resource.webhook is not None:
                await self.convert(resource, [stored])
            return stored
        raise names.no_unique_name(resource, name)

    async def _create(self, attempt: Attempt, draft: Draft, name: str) -> Made:
        """Prepare, check and commit a new object under one name. Raise Exists, Conflict."""
        resource, write, strategy = attempt.resource, attempt.write, attempt.strategy
        step = draft.prepare(self.native)
        ready = self.here(attempt, step) or await self.take(attempt, step)
        causes = ready.causes
        if strategy is not self.plain:
            causes = strategy.extra_causes(resource, attempt.namespace, draft) + causes
        if causes:
            write.warnings += ready.warnings if ready.causes else draft.prepare_warnings()
            raise invalid(resource, draft, name, causes)
        if strategy is not self.plain and (causes := await strategy.further_causes(write, draft, None)):
            raise invalid(resource, draft, name, causes)
        write.warnings += ready.warnings
        if write.creates:
            await check_create(resource, attempt.namespace, write)
        if write.admit is not None and (waits := write.admit.validate("CREATE", draft, None)) is not None:
            await waits
        if write.dry_run:
            if self.collection(resource).get(resource.native, attempt.namespace, name) is not None:
                raise Exists
            await self.to_storage_version(resource, draft)
            return draft.preview(attempt.version), False
        if attempt.version and not write.creates:
            raise errors.ApiError(500, "", "resourceVersion should not be set on objects to be created")
        return await self.commit(attempt, draft), True

    @rechecked
    async def update(self, resource: Resource, namespace: str, name: str, change: Change, write: Write) -> Stored:
        """Replace an object by the result of `change` on the present version; again after a conflict.

        The resource version of a draft must match the present one: that conflict is the caller's.
        """
        strategy = self.strategy(resource)
        tries = 0
        while True:
            try:
                old = self.get(resource, namespace, name)
            except Unreadable as e:
                raise self.storage.words.changed(e.fault) from None
            size = write.sent and write.sent + old.size
            attempt, tries = self.attempt(resource, namespace, write, size, tries), tries + 1
            leaves = attempt.off_loop or write.slow
            async with self.locks.of((resource.storage, namespace, name)) if leaves else UNLOCKED:
                # Under the lock, as the writers before left it.
                attempt.old = old = self.get(resource, namespace, name) if leaves else old
                if resource.webhook is not None:
                    await self.convert(resource, [old])
                draft, given = await self._change(attempt, old, change)
                finish = None if strategy is self.plain else await strategy.begin(write, draft, old)
                work = self._replace(attempt, old, draft)
                try:
                    stored = (await work)[0] if finish is None else await outcome(work, finish, self._under_way)
                except Conflict:
                    # The version in a patch is compared again by the next attempt.
                    if given and not write.patch:
                        raise errors.conflict(resource.group, resource.plural, name, errors.MODIFIED) from None
                    continue
                except Missing:
                    raise errors.not_found(resource.group, resource.plural, name) from None
            if not write.dry_run and strategy is not self.plain:
                await strategy.after(resource, old, None if attempt.removed else stored)
            if resource.webhook is not None and not attempt.removed:
                await self.convert(resource, [stored])
            return stored

    async def _change(self, attempt: Attempt, old: Stored, change: Change) -> tuple[Draft, str]:
        """Return the changed object with the server's metadata, and the resource version that it requires."""
        resource, write = attempt.resource, attempt.write
        made = await run(change, old, pooled=True) if attempt.off_loop else change(old)
        draft = made if isinstance(made, Draft) else await made
        if not write.patch and (uid := draft.uid):
            # A PUT identifies its object by UID; a UID from a patch is validated.
            check_uid(resource, old.name, old, uid)
        step = draft.read_update(self.native, old, write.manager, write.subresource)
        read = self.here(attempt, step) or await self.take(attempt, step)
        if read.duplicates:
            write.warnings.append(duplicate_owners(read.duplicates))
        given = read.resource_version
        if write.admit is not None and (waits := write.admit.mutate("UPDATE", draft, old)) is not None:
            await waits
            given = draft.resource_version
        strategy = attempt.strategy
        if strategy is not self.plain:
            await strategy.authorize(write, draft, old, resource.plural)
        check_version(resource, old.name, old, given, unconditional="unconditional_update" in self.traits(resource))
        draft.keep_metadata(old)
        return draft, given

    async def _replace(self, attempt: Attempt, old: Stored, draft: Draft) -> Made:
        """Prepare, check and commit an update. Raise Conflict and Missing."""
        resource, write, strategy = attempt.resource, attempt.write, attempt.strategy
        step = draft.prepare(self.native, old, write.subresource, write.validates)
        ready = self.here(attempt, step) or await self.take(attempt, step)
        causes = ready.causes
        if not causes and strategy is not self.plain:
            causes = await strategy.further_causes(write, draft, old)
        if causes:
            raise invalid(resource, draft, old.name if ready.causes else draft.names[0], causes)
        write.warnings += ready.warnings
        if write.admit is not None and (waits := write.admit.validate("UPDATE", draft, old)) is not None:
            await waits
        if write.dry_run:
            await self.to_storage_version(resource, draft)
            return draft.preview(old.revision), False
        if ready.deleting and strategy.gone(draft):
            self.check_epoch(attempt)
            attempt.removed = True
            # Nothing was stored: the allocations of the update are in no object.
            return draft.preview((await self.collection(resource).delete(old)).revision), False
        return await self.commit(attempt, draft), True
