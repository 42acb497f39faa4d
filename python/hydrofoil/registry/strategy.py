"""The strategy of a kind in the generic pipeline."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Literal

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import Cause
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.outcome import Finish
from hydrofoil.registry.write import Write

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
Step = Literal["remove", "mark", "wait"]
"""The next step of a deletion: remove the object, mark it as being deleted, or nothing."""


def now(clock: Clock, seconds: int = 0) -> bytes:
    """Return a time from now as JSON. A span of more than 292 years wraps around, as Go's does in nanoseconds."""
    span = (seconds * 10**9 + 2**63) % 2**64 - 2**63
    moment = clock.now() + timedelta(microseconds=span // 1000)
    # Not every C library pads the year.
    return orjson.dumps(moment.isoformat(timespec="seconds").replace("+00:00", "Z"))


OF_WRITES = ("authorize", "begin", "extra_causes", "further_causes", "after")
"""The steps that are part of a creation or an update."""
RowOrder = Callable[[dict[str, Any]], Any]
"""Return what a row of a table is sorted by."""


class Strategy:
    """The default behaviour; the few kinds that differ override a step.

    Field rules are native (`rust/schema`). A step is here where it allocates, looks at other objects or acts on them.

    >>> import asyncio
    >>> from hydrofoil.apis.catalog import Catalog
    >>> from hydrofoil.clock import Chance
    >>> from hydrofoil.errors import ApiError, forbidden
    >>> from hydrofoil.registry.store import Registry
    >>> from hydrofoil.storage.local import LocalLog
    >>> from hydrofoil.storage.storage import Storage
    >>> class Reserved(Strategy):
    ...     async def authorize(self, write, draft, old, plural):
    ...         if draft.names[0].startswith("kube-"):
    ...             raise forbidden("", plural, draft.names[0], "the prefix is reserved")
    >>> async def main():
    ...     storage, catalog = Storage(LocalLog(), Clock()), Catalog()
    ...     await storage.open()
    ...     registry = Registry(catalog, storage, Clock(), Chance())
    ...     registry.strategies["", "configmaps"] = Reserved(registry)
    ...     maps = catalog.find("", "v1", "configmaps")
    ...     draft, _ = maps.native.decode(b'{"metadata": {"name": "kube-x"}}', "json")
    ...     try:
    ...         await registry.create(maps, "n", draft, Write())
    ...     except ApiError as e:
    ...         print(e.code, e.message)
    ...     await storage.close()
    >>> asyncio.run(main())
    403 configmaps "kube-x" is forbidden: the prefix is reserved
    """

    collected = True
    """Whether a deletion may wait for dependents (`rest.Unsupported` if not)."""
    orphans = False
    """Whether a deletion without a policy orphans dependents (`DefaultGarbageCollectionPolicy`)."""

    is_passive = True
    """Whether creations and updates have no step of their own."""
    deletes_by_uid = False
    """Whether a deletion is of the object that was found, and not of another one of its name."""
    prefix_is_name = False
    """Whether a generated name is its prefix alone."""

    def __init_subclass__(cls) -> None:
        cls.is_passive = all(getattr(cls, step) is getattr(Strategy, step) for step in OF_WRITES)

    def __init__(self, objects: Objects) -> None:
        self.objects = objects

    def creates_through_status(self, resource: Resource) -> bool:
        """Report whether an apply to the status of an object that does not exist creates it."""
        return False

    def row_order(self, resource: Resource) -> RowOrder | None:
        """Return the order of the rows of a table; None for that of the names."""
        return None

    async def authorize(self, write: Write, draft: Draft, old: Stored | None, plural: str) -> None:
        """Refuse what the user of a write may not do, once its object is admitted. Raise ApiError 403."""

    async def begin(self, write: Write, draft: Draft, old: Stored | None) -> Finish | None:
        """Refuse a write, or allocate values, before an object is prepared. Raise ApiError.

        The returned function is called once with whether the write was stored, to release unused values; never if that
        is unknown.
        """
        return None

    def extra_causes(self, resource: Resource, namespace: str, draft: Draft) -> list[Cause]:
        """Return errors that depend on other objects; they precede those of the object itself."""
        return []

    async def further_causes(self, write: Write, draft: Draft, old: Stored | None) -> list[Cause]:
        """Return errors of a valid object that depend on the rights of the user of a write."""
        return []

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        """Act on an object that was created, changed or removed."""

    async def after_mark(self, resource: Resource, stored: Stored) -> None:
        """Act on an object whose deletion has begun."""

    def delete_warnings(self, options: DeleteOptions) -> list[str]:
        """Return warnings for a client that deletes an object."""
        return []

    def check_removal(self, name: str) -> None:
        """Refuse the deletion of one object by its name; that of a collection does not ask. Raise ApiError 403."""

    def gone(self, draft: Draft) -> bool:
        """Report whether an object that is being deleted may be removed now."""
        lifecycle = draft.lifecycle()
        gone = bool(lifecycle.deletion_timestamp) and not lifecycle.finalizers
        return gone and lifecycle.grace_period in (None, 0)

    def grace_period(self, draft: Draft, options: DeleteOptions) -> int | None:
        """Return the grace period of a deletion in seconds; None for kinds without one."""
        return None

    def policy_finalizers(self, finalizers: list[str], options: DeleteOptions) -> list[str]:
        """Return the finalizers under a propagation policy (store.go `deletionFinalizersForGarbageCollection`)."""
        kept = [f for f in finalizers if f not in (ORPHAN, FOREGROUND)]
        if not self.collected:
            return kept
        if options.policy is None and options.orphan is None:
            if len(kept) < len(finalizers):
                # Finalizers of the object take precedence over the default of its kind.
                return finalizers
            return [*kept, ORPHAN] if self.orphans else kept
        if options.orphan is True or options.policy == "Orphan":
            kept.append(ORPHAN)
        if options.policy == "Foreground":
            kept.append(FOREGROUND)
        return kept

    def begin_delete(self, draft: Draft, options: DeleteOptions) -> Step:
        """Return the next step of a deletion; the draft has the changes to write."""
        lifecycle = draft.lifecycle()
        deleted, grace, finalizers = lifecycle.deletion_timestamp, lifecycle.grace_period, lifecycle.finalizers
        wanted = self.policy_finalizers(finalizers, options)
        period = self.grace_period(draft, options)
        if period is not None and deleted and options.grace is None:
            period = grace
        waits = bool(period)
        if not wanted and not waits:
            return "remove"
        # The order of the same finalizers stays.
        changed = set(wanted) != set(finalizers)
        if changed:
            draft.set(["metadata", "finalizers"], orjson.dumps(wanted))
        if not deleted or (waits and grace is not None and period is not None and period < grace):
            mark_deleted(self.objects.clock, draft, period or 0)
            changed = True
        elif not waits and grace:
            mark_deleted(self.objects.clock, draft, 0)
            changed = True
        return "mark" if changed else "wait"


def mark_deleted(clock: Clock, draft: Draft, seconds: int) -> None:
    """Set the time of removal; the first time, increase the generation."""
    lifecycle = draft.lifecycle()
    if lifecycle.generation > 0 and not lifecycle.deletion_timestamp:
        draft.set(["metadata", "generation"], b"%d" % (lifecycle.generation + 1))
    draft.set(["metadata", "deletionTimestamp"], now(clock, seconds))
    draft.set(["metadata", "deletionGracePeriodSeconds"], b"%d" % seconds)
