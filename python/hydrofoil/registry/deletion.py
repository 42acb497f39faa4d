"""The deletion of objects, part of the one pipeline of every kind (`registry/generic/registry/store.go` `Delete`)."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored
from hydrofoil.pool import run
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.fresh import rechecked
from hydrofoil.registry.preconditions import check_deletion
from hydrofoil.registry.session import Attempt, Session
from hydrofoil.registry.strategy import mark_deleted
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import Conflict, Missing


class Deletion(Session):
    """Delete objects of every kind."""

    @rechecked
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

    @rechecked
    async def delete(
        self, resource: Resource, namespace: str, name: str, options: DeleteOptions, write: Write
    ) -> tuple[Stored, bool]:
        """Delete an object or begin to; return it, and whether it is removed (DEL-01 to DEL-07)."""
        tries = 0
        while True:
            old = self.get(resource, namespace, name)
            attempt, tries = self.attempt(resource, namespace, write, old.size, tries), tries + 1
            await self.convert(resource, [old])
            draft = await run(old.thaw, pooled=attempt.off_loop)
            check_deletion(resource, name, old, draft, options)
            if write.admit is not None:
                strategy = attempt.strategy
                options.period = strategy.grace_period(draft, options)
                options.own_uid = old.uid if strategy.deletes_by_uid else None
                for judge in (write.admit.mutate, write.admit.validate):
                    if (waits := judge("DELETE", None, old)) is not None:
                        await waits
            try:
                self.check_epoch(attempt)
                return await self._delete(attempt, old, draft, options)
            except Conflict:
                continue
            except Missing:
                raise errors.not_found(resource.group, resource.plural, name) from None

    async def _delete(self, attempt: Attempt, old: Stored, draft: Draft, options: DeleteOptions) -> tuple[Stored, bool]:
        """Remove an object, or mark it as being deleted. Raise Conflict and Missing."""
        resource, collection = attempt.resource, self.collection(attempt.resource)
        strategy = attempt.strategy
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
                if attempt.off_loop:
                    await run(draft.seal, pooled=True)
                old = await collection.update(old, draft)
            gone = await collection.delete(old)
            await strategy.after(resource, old, None)
            # Reuse the webhook's conversion of the former version.
            return old if resource.webhook else gone, True
        if options.dry_run:
            return draft.preview(old.revision), False
        await self.seal(resource, draft, off_loop=attempt.off_loop)
        stored = await collection.update(old, draft)
        await strategy.after_mark(resource, stored)
        await self.convert(resource, [stored])
        return stored, False
