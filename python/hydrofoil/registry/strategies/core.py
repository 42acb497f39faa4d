"""Kinds of the core group that differ."""

from __future__ import annotations

import orjson

from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.outcome import Finish
from hydrofoil.registry.strategies.base import Step, Strategy, now
from hydrofoil.registry.write import Write


class RequestStrategy(Strategy):
    """A certificate signing request names who made it."""

    async def begin(self, write: Write, draft: Draft, old: Stored | None) -> Finish | None:
        if old is None:
            user = write.user
            for member, value in (("username", user.name), ("uid", user.uid), ("groups", user.groups)):
                draft.set(["spec", member], orjson.dumps(value))
            draft.set(["spec", "extra"], orjson.dumps(dict(user.extra)) if user.extra else None)
        return None


class OrphaningStrategy(Strategy):
    """Replication controllers leave their pods behind, unlike later workloads."""

    orphans = True


class EventStrategy(Strategy):
    """Events own nothing."""

    collected = False


class JobStrategy(OrphaningStrategy):
    """Jobs leave their pods behind, and say so."""

    def delete_warnings(self, options: DeleteOptions) -> list[str]:
        if options.orphan is not None or options.policy is not None:
            return []
        text = "child pods are preserved by default when jobs are deleted; "
        text += "set propagationPolicy=Background to remove them or "
        return [text + "set propagationPolicy=Orphan to suppress this warning"]


class NamespaceStrategy(Strategy):
    """Namespaces end in phases: their content goes before they do."""

    def gone(self, draft: Draft) -> bool:
        _, deleted, _, finalizers = draft.lifecycle()
        return bool(deleted) and not finalizers and not orjson.loads(draft.get(["spec", "finalizers"]) or b"[]")

    def begin_delete(self, draft: Draft, options: DeleteOptions) -> Step:
        _, deleted, _, finalizers = draft.lifecycle()
        if deleted:
            return "remove" if self.gone(draft) else "wait"
        wanted = self.policy_finalizers(finalizers, options)
        if wanted != finalizers:
            draft.set(["metadata", "finalizers"], orjson.dumps(wanted))
        draft.set(["metadata", "deletionTimestamp"], now(self.objects.clock))
        draft.set(["metadata", "deletionGracePeriodSeconds"], None)
        draft.set(["status", "phase"], b'"Terminating"')
        return "remove" if self.gone(draft) else "mark"


class AddressStrategy(Strategy):
    """IP addresses are named by what they are (`noopNameGenerator`)."""

    prefix_is_name = True
