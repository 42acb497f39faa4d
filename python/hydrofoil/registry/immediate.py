"""Writes of the server's own for which nobody has to wait: each is done within one call.

Where a commit is complete within its call, no plug-in has anything to do and no strategy looks at other objects, all
steps of `store.py` follow each other at once. Their outcome is the same; what is saved is a third of their time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine

from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.clock import Chance, Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.pace.sizes import LARGE
from hydrofoil.registry import names
from hydrofoil.registry.deletion import Deletion
from hydrofoil.registry.preconditions import check_uid, check_version
from hydrofoil.registry.session import UNLIMITED, duplicate_owners, invalid
from hydrofoil.registry.write import Operation, Write
from hydrofoil.storage.errors import Conflict, Exists, Missing, Outdated
from hydrofoil.storage.storage import Storage


def drop(waits: Awaitable[None]) -> None:
    """Drop what would have to be waited for, before it has begun."""
    if isinstance(waits, Coroutine):
        waits.close()


class Immediate(Deletion):
    """Make writes at once where that is possible."""

    def __init__(self, catalog: Catalog, storage: Storage, clock: Clock, chance: Chance) -> None:
        super().__init__(catalog, storage, clock)
        self.chance = chance

    def is_immediate(self, resource: Resource, write: Write, operation: Operation) -> bool:
        """Report whether nobody has to wait for such a write of the server's own."""
        return (
            not (write.sent or write.dry_run)
            and self.is_plain(resource)
            and (write.admit is None or write.admit.is_idle(operation))
        )

    def is_plain(self, resource: Resource) -> bool:
        """Report whether the writes of a resource wait for nobody but admission."""
        return not resource.custom and self.collection(resource).is_immediate and self.strategy(resource).is_passive

    def create_at_once(self, resource: Resource, namespace: str, body: bytes, write: Write) -> Stored | None:
        """Create an object from JSON as `Registry.create` does. Return None where that has to wait: nothing is done.

        Raise as that.
        """
        admit = write.admit
        if write.sent or write.dry_run or not self.is_plain(resource) or len(body) > LARGE:
            return None
        if admit is not None and not admit.repeats("CREATE"):
            # It may ask others, or count.
            return None
        epoch = self.storage.epoch if write.epoch is None else write.epoch
        draft, _ = resource.native.decode(body, "json")
        read = draft.read_new(self.native, namespace, write.manager).here(UNLIMITED)
        if read is None or read.revision:
            return None
        if admit is not None and (waits := admit.mutate("CREATE", draft, None)) is not None:
            drop(waits)
            return None
        given, prefix = draft.names
        name = given
        for name in names.candidates(given, prefix, self.chance, prefix_is_name=False):
            tried, ready = draft.replicate(self.native, name, self.chance.uid())
            if ready.causes:
                raise invalid(resource, tried, name, ready.causes)
            if admit is not None and (waits := admit.validate("CREATE", tried, None)) is not None:
                drop(waits)
                return None
            if epoch != self.storage.epoch:
                raise Outdated
            try:
                stored = self.put(resource, None, tried)
            except Exists:
                if prefix and not given:
                    continue
                raise names.already_exists(self, resource, namespace, name) from None
            if stored is not None:
                write.warnings += [duplicate_owners(read.duplicates)] if read.duplicates else []
                write.warnings += ready.warnings
            return stored
        raise names.no_unique_name(resource, name)

    def update_at_once(
        self, resource: Resource, namespace: str, name: str, change: Callable[[Stored], Draft], write: Write
    ) -> Stored | None:
        """Update an object as `Registry.update` does. Return None where that has to wait: then nothing is done.

        `change` is called anew by `update` then. Raise as that.
        """
        if not self.is_immediate(resource, write, "UPDATE"):
            return None
        old = self.get(resource, namespace, name)
        if old.size > LARGE:
            return None
        epoch = self.storage.epoch if write.epoch is None else write.epoch
        draft = change(old)
        if not write.patch and (uid := draft.uid):
            check_uid(resource, name, old, uid)
        read, ready = draft.revise(self.native, old, write.manager, write.subresource, write.validates)
        if read.revision != old.revision:
            unconditional = "unconditional_update" in self.traits(resource)
            check_version(resource, name, old, read.resource_version, unconditional=unconditional)
        if ready.causes:
            raise invalid(resource, draft, name, ready.causes)
        if ready.deleting and self.strategy(resource).gone(draft):
            return None
        if read.duplicates:
            write.warnings.append(duplicate_owners(read.duplicates))
        write.warnings += ready.warnings
        if epoch != self.storage.epoch:
            raise Outdated
        try:
            return self.put(resource, old, draft)
        except (Conflict, Missing):
            # The change itself has written the object.
            return None

    def put(self, resource: Resource, old: Stored | None, draft: Draft) -> Stored | None:
        """Commit an object that is prepared; return None if it may be too large. Raise Exists, Missing, Conflict."""
        self.storage.is_awaited = False
        try:
            return self.collection(resource).put(old, draft)
        finally:
            self.storage.is_awaited = True
