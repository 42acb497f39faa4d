"""What a kind may do differently in the generic pipeline."""

from __future__ import annotations

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
from hydrofoil.request import ADMIN

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
Step = Literal["remove", "mark", "wait"]
"""What a deletion does next: take the object out, write that it is being deleted, or nothing."""


USER: dict[str, Any] = {"username": ADMIN.name, "uid": ADMIN.uid, "groups": list(ADMIN.groups)}
"""Who every caller is until there is authentication, as reviews show it."""


def now(clock: Clock, seconds: int = 0) -> bytes:
    """A time from now as JSON. A span of more than 292 years wraps around, as Go's do in nanoseconds."""
    span = (seconds * 10**9 + 2**63) % 2**64 - 2**63
    moment = clock.now() + timedelta(microseconds=span // 1000)
    # Not every C library pads the year.
    return orjson.dumps(moment.isoformat(timespec="seconds").replace("+00:00", "Z"))


class Strategy:
    """The common behaviour; the few kinds that differ override a step."""

    collected = True
    """Whether a deletion may wait for dependents (`rest.Unsupported` when not)."""
    orphans = False
    """Whether a deletion that says nothing leaves dependents behind (`DefaultGarbageCollectionPolicy`)."""

    prefix_is_name = False
    """Whether a generated name is its prefix alone."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects

    async def begin(self, write: Write, draft: Draft, old: Stored | None) -> Finish | None:
        """Refuse, or fill what is allocated, before an object is prepared. Raises ApiError.

        The answer is called once with whether the write was done, to give back what it leaves over; never when nobody
        can tell.
        """
        return None

    def extra_causes(self, resource: Resource, namespace: str, draft: Draft) -> list[Cause]:
        """Causes that need to look at other objects; they come before those of the object itself."""
        return []

    async def after(self, resource: Resource, old: Stored | None, new: Stored | None) -> None:
        """Act on an object that is new, changed or gone."""

    async def after_mark(self, resource: Resource, stored: Stored) -> None:
        """Act on an object whose deletion has begun."""

    def delete_warnings(self, options: DeleteOptions) -> list[str]:
        """What a client that deletes an object should know."""
        return []

    def gone(self, draft: Draft) -> bool:
        """Whether an object that is being deleted may now be removed."""
        _, deleted, grace, finalizers = draft.lifecycle()
        return bool(deleted) and not finalizers and grace in (None, 0)

    def grace_period(self, draft: Draft, options: DeleteOptions) -> int | None:
        """The grace of a deletion in seconds; None for kinds that know none."""
        return None

    def policy_finalizers(self, finalizers: list[str], options: DeleteOptions) -> list[str]:
        """The finalizers that a propagation policy leaves (store.go `deletionFinalizersForGarbageCollection`)."""
        kept = [f for f in finalizers if f not in (ORPHAN, FOREGROUND)]
        if not self.collected:
            return kept
        if options.policy is None and options.orphan is None:
            if len(kept) < len(finalizers):
                # What the object asks for goes before what its kind does.
                return finalizers
            return [*kept, ORPHAN] if self.orphans else kept
        if options.orphan is True or options.policy == "Orphan":
            kept.append(ORPHAN)
        if options.policy == "Foreground":
            kept.append(FOREGROUND)
        return kept

    def begin_delete(self, draft: Draft, options: DeleteOptions) -> Step:
        """Decides how a deletion goes on; what is to be written is in the draft then."""
        _, deleted, grace, finalizers = draft.lifecycle()
        wanted = self.policy_finalizers(finalizers, options)
        period = self.grace_period(draft, options)
        if period is not None and deleted and options.grace is None:
            period = grace
        waits = bool(period)
        if not wanted and not waits:
            return "remove"
        changed = wanted != finalizers
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
    """Sets when an object is to be gone; the first time its generation grows."""
    generation, deleted, _, _ = draft.lifecycle()
    if generation > 0 and not deleted:
        draft.set(["metadata", "generation"], b"%d" % (generation + 1))
    draft.set(["metadata", "deletionTimestamp"], now(clock, seconds))
    draft.set(["metadata", "deletionGracePeriodSeconds"], b"%d" % seconds)
