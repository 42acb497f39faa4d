"""Kinds of the core group that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from hydrofoil import errors
from hydrofoil.registry.strategies.base import USER, Step, Strategy, Undo, nothing, now
from hydrofoil.registry.strategies.services import ServiceStrategy

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.engine import Draft, Stored
    from hydrofoil.registry.store import DeleteOptions, Registry

PROTECTED = frozenset({"default", "kube-system", "kube-public"})


DEFAULT_TOLERATIONS: tuple[dict[str, Any], ...] = tuple(
    {
        "key": f"node.kubernetes.io/{condition}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for condition in ("not-ready", "unreachable")
)
"""What the DefaultTolerationSeconds admission plug-in adds."""


def _tolerates(given: dict[str, Any], key: str) -> bool:
    return given.get("key", "") in (key, "") and given.get("effect", "") in ("NoExecute", "")


class NodeStrategy(Strategy):
    """A new node is not ready until somebody says so (the TaintNodesByCondition admission plug-in)."""

    async def before_create(self, resource: Resource, draft: Draft, *, dry_run: bool) -> Undo:
        taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
        taints = orjson.loads(draft.get(["spec", "taints"]) or b"[]")
        if not any(t.get("key") == taint["key"] and t.get("effect") == taint["effect"] for t in taints):
            draft.set(["spec", "taints"], orjson.dumps([*taints, taint]))
        return nothing


class RequestStrategy(Strategy):
    """A certificate signing request names who made it."""

    async def before_create(self, resource: Resource, draft: Draft, *, dry_run: bool) -> Undo:
        for member in ("uid", "extra"):
            draft.set(["spec", member], None)
        draft.set(["spec", "username"], orjson.dumps(USER["username"]))
        draft.set(["spec", "groups"], orjson.dumps(USER["groups"]))
        return nothing


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
    """Pods get a priority and tolerations, and on a node time to stop."""

    async def before_create(self, resource: Resource, draft: Draft, *, dry_run: bool) -> Undo:
        self._priority(draft)
        tolerations = orjson.loads(draft.get(["spec", "tolerations"]) or b"[]")
        added = [t for t in DEFAULT_TOLERATIONS if not any(_tolerates(given, t["key"]) for given in tolerations)]
        if added:
            draft.set(["spec", "tolerations"], orjson.dumps(tolerations + added))
        return nothing

    def _priority(self, draft: Draft) -> None:
        """The Priority admission plug-in: a class gives the number, its default is the class marked so."""
        classes = self.registry.catalog.find("scheduling.k8s.io", "v1", "priorityclasses")
        if classes is None:
            return
        name = orjson.loads(draft.get(["spec", "priorityClassName"]) or b'""')
        value, policy = 0, "PreemptLowerPriority"
        if name:
            found = self.registry.collection(classes).get(classes.native, "", name)
            if found is None:
                why = f"no PriorityClass with name {name} was found"
                raise errors.forbidden("", "pods", draft.head()[2], why)
            raw = orjson.loads(found.json)
            value, policy = raw["value"], raw.get("preemptionPolicy", policy)
        given = draft.get(["spec", "priority"])
        if given is not None and int(given) != value:
            why = f"the integer value of priority ({int(given)}) must not be provided in pod spec; priority admission "
            why += f"controller computed {value} from the given PriorityClass name"
            raise errors.forbidden("", "pods", draft.head()[2], why)
        draft.set(["spec", "priority"], b"%d" % value)
        if not draft.get(["spec", "preemptionPolicy"]):
            draft.set(["spec", "preemptionPolicy"], orjson.dumps(policy))

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
        ("", "nodes"): NodeStrategy(registry),
        ("", "pods"): PodStrategy(registry),
        ("certificates.k8s.io", "certificatesigningrequests"): RequestStrategy(registry),
        ("", "services"): ServiceStrategy(registry),
    }
