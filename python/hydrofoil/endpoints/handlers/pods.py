"""Operations on pods: binding to a node, and eviction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from hydrofoil import engine, errors
from hydrofoil.answer import Answer
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.handlers.delete import check_policy
from hydrofoil.endpoints.handlers.scale import selector_text
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.preconditions import storage_error
from hydrofoil.registry.strategies.base import now
from hydrofoil.registry.write import Write

BINDING = "io.k8s.api.core.v1.Binding"
EVICTION = "io.k8s.api.policy.v1.Eviction"
SUCCESS = b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}\n'


def _pods(context: Context) -> Resource:
    found = context.registry.catalog.find("", "v1", "pods")
    assert found is not None
    return found


async def bind(context: Context) -> Answer:
    """Assigns a pod to a node (URI-18)."""
    native = context.registry.catalog.kind("", "v1", "Binding", BINDING)
    given, options = await body.read(context, native, "CreateOptions")
    body.check_namespace(context, given)
    name = context.info.name or given.head()[2]
    if given.head()[2] != name:
        raise errors.bad_request("name in URL does not match name in Binding object")
    raw = orjson.loads(given.json())
    target = raw.get("target", {})
    causes = []
    if target.get("kind", "") not in ("", "Node"):
        text = f'Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"'
        causes.append(("FieldValueNotSupported", text, "target.kind"))
    if not target.get("name"):
        causes.append(("FieldValueRequired", "Required value", "target.name"))
    if causes:
        # Upstream loses the type of this error on its way.
        raise errors.ApiError(500, "", errors.aggregate([f"{field}: {message}" for _, message, field in causes]))

    _, _, _, _, _, uid, version = given.head()
    if not context.info.subresource:
        uid = ""  # wiped, as of every new object

    def change(old: Stored) -> Draft:
        draft = old.thaw()
        own = draft.head()[5]
        if uid and uid != own:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {own}"
            raise errors.conflict("", "pods", name, storage_error(_pods(context), old, why))
        if version and version != str(old.revision):
            why = f"Precondition failed: ResourceVersion in precondition: {version}, "
            why += f"ResourceVersion in object meta: {old.revision}"
            raise errors.conflict("", "pods", name, storage_error(_pods(context), old, why))
        present = orjson.loads(draft.get(["spec", "nodeName"]) or b'""')
        if draft.lifecycle()[1]:
            why = f"pod {name} is being deleted, cannot be assigned to a host"
            raise errors.conflict("", "pods/binding", name, why)
        if present:
            why = f"pod {name} is already assigned to node {present!r}".replace("'", '"')
            raise errors.conflict("", "pods/binding", name, why)
        if orjson.loads(draft.get(["spec", "schedulingGates"]) or b"[]"):
            raise errors.conflict("", "pods/binding", name, f"pod {name} has non-empty .spec.schedulingGates")
        draft.set(["spec", "nodeName"], orjson.dumps(target["name"]))
        for key, value in raw.get("metadata", {}).get("annotations", {}).items():
            draft.set(["metadata", "annotations", key], orjson.dumps(value))
        conditions: list[dict[str, Any]] = orjson.loads(draft.get(["status", "conditions"]) or b"[]")
        conditions = [c for c in conditions if c.get("type") != "PodScheduled"]
        moment = context.parts.clock.text()
        conditions.append(
            {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": moment}
        )
        draft.set(["status", "conditions"], orjson.dumps(conditions))
        return draft

    await context.registry.update(
        _pods(context),
        context.info.namespace,
        name,
        change,
        context.write(dry_run=options.dry_run, resource=_pods(context), subresource="binding"),
        # Upstream assigns the node in the storage, past the rules of an update.
        validate=False,
    )
    return respond.json(context, SUCCESS, 201)


async def evict(context: Context) -> Answer:
    """Deletes a pod unless a disruption budget forbids it (URI-17)."""
    native = context.registry.catalog.kind("policy", "v1", "Eviction", EVICTION)
    given, options = await body.read(context, native, "CreateOptions", also="policy/v1beta1")
    body.check_namespace(context, given)
    info = context.info
    if given.head()[2] != info.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    pod = context.registry.get(_pods(context), info.namespace, info.name)
    asked = orjson.loads(given.json()).get("deleteOptions", {})
    check_policy(asked.get("propagationPolicy"), asked.get("orphanDependents"))
    dry_run = options.dry_run or bool(asked.get("dryRun"))
    await _disrupt(context, pod, dry_run=dry_run)
    preconditions = asked.get("preconditions", {})
    await context.registry.delete(
        _pods(context),
        info.namespace,
        info.name,
        DeleteOptions(
            grace=asked.get("gracePeriodSeconds"),
            uid=preconditions.get("uid"),
            revision=preconditions.get("resourceVersion"),
            policy=asked.get("propagationPolicy"),
            dry_run=dry_run,
        ),
        Write(),
    )
    return respond.json(context, SUCCESS, 201)


async def _disrupt(context: Context, pod: Stored, *, dry_run: bool) -> None:
    """Takes one disruption from the budget that covers a pod. Raises 429 when there is none."""
    raw = orjson.loads(pod.json)
    if raw.get("status", {}).get("phase") in ("Succeeded", "Failed", "Pending") or raw["metadata"].get(
        "deletionTimestamp"
    ):
        return
    budgets = context.registry.catalog.find("policy", "v1", "poddisruptionbudgets")
    if budgets is None:
        return
    labels = raw["metadata"].get("labels", {})
    covering = [b for b in context.registry.all(budgets, pod.namespace) if _covers(budgets, b, labels)]
    if len(covering) > 1:
        text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise errors.ApiError(500, "", text)
    for budget in covering:
        await context.registry.update(
            budgets,
            pod.namespace,
            budget.name,
            _taking(pod.name, context.parts.clock),
            Write(subresource="status", dry_run=dry_run),
        )


def _taking(pod: str, clock: Clock) -> Callable[[Stored], Draft]:
    """Takes a disruption from the budget as it stands when it is written. Raises 429 when there is none."""
    text = "Cannot evict pod as it would violate the pod's disruption budget."

    def take(budget: Stored) -> Draft:
        stated = orjson.loads(budget.json)
        status = stated.get("status", {})
        allowed = status.get("disruptionsAllowed", 0)
        if status.get("observedGeneration", 0) < stated["metadata"].get("generation", 0):
            why = f"The disruption budget {budget.name} is still being processed by the server."
            causes = [{"reason": "DisruptionBudget", "message": why}]
            raise errors.ApiError(429, "TooManyRequests", text, {"causes": causes}, retry_after=10)
        if allowed <= 0:
            needed, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
            why = f"The disruption budget {budget.name} needs {needed} healthy pods and has {healthy} currently"
            causes = [{"reason": "DisruptionBudget", "message": why}]
            raise errors.ApiError(429, "TooManyRequests", text, {"causes": causes})
        draft = budget.thaw()
        draft.set(["status", "disruptionsAllowed"], b"%d" % (allowed - 1))
        draft.set(["status", "disruptedPods", pod], now(clock))
        return draft

    return take


def _covers(budgets: Resource, budget: Stored, labels: dict[str, str]) -> bool:
    selector = orjson.loads(budget.json)["spec"].get("selector")
    if selector is None:
        return False
    probe = budgets.native.empty()
    probe.set(["metadata"], orjson.dumps({"name": "p", "labels": labels}))
    chosen = engine.Selector(budgets.native, "", selector_text(selector), "")
    return chosen.matches(probe.preview(0))
