"""The core group: events, namespaces, pods, replication controllers."""

from __future__ import annotations

import orjson

from hydrofoil.engine import Draft
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.strategy import Step, Strategy, now


class OrphaningStrategy(Strategy):
    """Orphan the pods of a replication controller by default, unlike those of later workloads."""

    orphans = True


class EventStrategy(Strategy):
    """Skip garbage collection: events own nothing."""

    collected = False


class NamespaceStrategy(Strategy):
    """Delete namespaces in phases: the content first."""

    deletes_by_uid = True

    def gone(self, draft: Draft) -> bool:
        lifecycle = draft.lifecycle()
        return (
            bool(lifecycle.deletion_timestamp)
            and not lifecycle.finalizers
            and not orjson.loads(draft.get(["spec", "finalizers"]) or b"[]")
        )

    def begin_delete(self, draft: Draft, options: DeleteOptions) -> Step:
        lifecycle = draft.lifecycle()
        finalizers = lifecycle.finalizers
        if lifecycle.deletion_timestamp:
            return "remove" if self.gone(draft) else "wait"
        wanted = self.policy_finalizers(finalizers, options)
        if wanted != finalizers:
            draft.set(["metadata", "finalizers"], orjson.dumps(wanted))
        draft.set(["metadata", "deletionTimestamp"], now(self.objects.clock))
        draft.set(["metadata", "deletionGracePeriodSeconds"], None)
        draft.set(["status", "phase"], b'"Terminating"')
        return "remove" if self.gone(draft) else "mark"


class PodStrategy(Strategy):
    """Set the grace period of running pods."""

    def grace_period(self, draft: Draft, options: DeleteOptions) -> int | None:
        if not draft.get(["spec", "nodeName"]):
            return 0
        if draft.get(["status", "phase"]) in (b'"Failed"', b'"Succeeded"'):
            return 0
        if options.grace is not None:
            return 1 if options.grace < 0 else options.grace
        return int(draft.get(["spec", "terminationGracePeriodSeconds"]) or b"30")
