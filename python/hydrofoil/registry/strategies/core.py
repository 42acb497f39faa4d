"""Kinds of the core group that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from hydrofoil import errors
from hydrofoil.registry.strategies.base import USER, Step, Strategy, Undo, nothing, now
from hydrofoil.registry.strategies.classes import ClaimStrategy, IngressStrategy
from hydrofoil.registry.strategies.devices import DeviceClaimStrategy, DeviceTemplateStrategy
from hydrofoil.registry.strategies.flowcontrol import FlowSchemaStrategy, PriorityLevelStrategy
from hydrofoil.registry.strategies.pods import PodStrategy
from hydrofoil.registry.strategies.services import ServiceStrategy

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.engine import Draft, Stored
    from hydrofoil.registry.store import DeleteOptions, Registry

PROTECTED = frozenset({"default", "kube-system", "kube-public"})


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
        draft.set(["spec", "extra"], None)
        for member in ("username", "uid", "groups"):
            draft.set(["spec", member], orjson.dumps(USER[member]))
        return nothing


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

    def before_delete(self, resource: Resource, old: Stored, draft: Draft) -> None:
        if old.name in PROTECTED:
            raise errors.forbidden("", "namespaces", old.name, "this namespace may not be deleted")

    async def after_delete(self, resource: Resource, old: Stored) -> None:
        self.registry.namespaces.forget(old.name)
        self.registry.security.forget(old.name)

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
        draft.set(["metadata", "deletionTimestamp"], now())
        draft.set(["metadata", "deletionGracePeriodSeconds"], None)
        draft.set(["status", "phase"], b'"Terminating"')
        return "remove" if self.gone(draft) else "mark"


class AddressStrategy(Strategy):
    """IP addresses are named by what they are (`noopNameGenerator`)."""

    prefix_is_name = True


def strategies(registry: Registry) -> dict[tuple[str, str], Strategy]:
    """By group and resource."""
    return {
        ("", "namespaces"): NamespaceStrategy(registry),
        ("", "nodes"): NodeStrategy(registry),
        ("", "persistentvolumeclaims"): ClaimStrategy(registry),
        ("networking.k8s.io", "ingresses"): IngressStrategy(registry),
        ("networking.k8s.io", "ipaddresses"): AddressStrategy(registry),
        ("", "events"): EventStrategy(registry),
        ("", "pods"): PodStrategy(registry),
        ("", "replicationcontrollers"): OrphaningStrategy(registry),
        ("batch", "jobs"): JobStrategy(registry),
        ("certificates.k8s.io", "certificatesigningrequests"): RequestStrategy(registry),
        ("", "services"): ServiceStrategy(registry),
        ("flowcontrol.apiserver.k8s.io", "flowschemas"): FlowSchemaStrategy(registry),
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): PriorityLevelStrategy(registry),
        ("resource.k8s.io", "resourceclaims"): DeviceClaimStrategy(registry),
        ("resource.k8s.io", "resourceclaimtemplates"): DeviceTemplateStrategy(registry),
    }
