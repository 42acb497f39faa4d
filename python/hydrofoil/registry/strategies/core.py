"""Kinds of the core group that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from hydrofoil import errors
from hydrofoil.registry.strategies.base import Step, Strategy, now
from hydrofoil.registry.strategies.services import ServiceStrategy

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.engine import Draft, Stored
    from hydrofoil.registry.store import DeleteOptions, Registry

PROTECTED = frozenset({"default", "kube-system", "kube-public"})


class NamespaceStrategy(Strategy):
    """Namespaces end in phases: their content goes before they do."""

    def before_delete(self, resource: Resource, old: Stored, draft: Draft) -> None:
        if old.name in PROTECTED:
            raise errors.forbidden("", "namespaces", old.name, "this namespace may not be deleted")

    def gone(self, draft: Draft) -> bool:
        _, deleted, _, finalizers = draft.lifecycle()
        return bool(deleted) and not finalizers and not orjson.loads(draft.get(["spec", "finalizers"]) or b"[]")

    def begin_delete(self, draft: Draft, options: DeleteOptions) -> Step:
        if draft.lifecycle()[1]:
            return "remove" if self.gone(draft) else "wait"
        draft.set(["metadata", "deletionTimestamp"], now())
        draft.set(["metadata", "deletionGracePeriodSeconds"], None)
        draft.set(["status", "phase"], b'"Terminating"')
        return "remove" if self.gone(draft) else "mark"


class PodStrategy(Strategy):
    """Pods on a node are given time to stop."""

    def grace_period(self, draft: Draft, options: DeleteOptions) -> int | None:
        if not draft.get(["spec", "nodeName"]):
            return 0
        if draft.get(["status", "phase"]) in (b'"Failed"', b'"Succeeded"'):
            return 0
        if options.grace is not None:
            return 1 if options.grace < 0 else options.grace
        return int(draft.get(["spec", "terminationGracePeriodSeconds"]) or b"30")


def strategies(registry: Registry) -> dict[tuple[str, str], Strategy]:
    """By group and resource."""
    return {
        ("", "namespaces"): NamespaceStrategy(registry),
        ("", "pods"): PodStrategy(registry),
        ("", "services"): ServiceStrategy(registry),
    }
