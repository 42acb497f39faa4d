"""Eviction of a pod (registry `core/pod/storage/eviction.go`)."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from hydrofoil import engine, errors
from hydrofoil.answer import Answer
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.handlers.delete import check_policy
from hydrofoil.endpoints.subresources.admitted import admitted
from hydrofoil.endpoints.subresources.binding import SUCCESS, pods
from hydrofoil.endpoints.subresources.scale import selector_text
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.strategy import now
from hydrofoil.registry.write import Write

EVICTION = "io.k8s.api.policy.v1.Eviction"


async def evict(context: Context) -> Answer:
    """Delete a pod unless a disruption budget forbids it (URI-17)."""
    native = context.registry.catalog.kind("policy", "v1", "Eviction", EVICTION)
    given, options = await body.read(context, native, "CreateOptions", also="policy/v1beta1")
    body.check_namespace(context, given)
    info = context.info
    admission = admitted(context, pods(context), dry_run=options.dry_run)
    given.set(["metadata", "namespace"], orjson.dumps(info.namespace))
    await admission.mutate(given)
    if given.metadata().name != info.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    if options.dry_run:
        given.set(["deleteOptions", "dryRun"], b'["All"]')
    await admission.validate(given)
    pod = context.registry.get(pods(context), info.namespace, info.name)
    asked = orjson.loads(given.json()).get("deleteOptions", {})
    check_policy(asked.get("propagationPolicy"), asked.get("orphanDependents"))
    dry_run = options.dry_run or bool(asked.get("dryRun"))
    await _disrupt(context, pod, dry_run=dry_run)
    preconditions = asked.get("preconditions", {})
    await context.registry.delete(
        pods(context),
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
    """Take one disruption from the budget that covers a pod. Raise ApiError 429 if none is left."""
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
    """Return the budget less one disruption, by its version at the write. Raise ApiError 429 if none is left."""
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
