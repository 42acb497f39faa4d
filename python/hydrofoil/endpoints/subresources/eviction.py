"""Eviction of a pod (registry `core/pod/storage/eviction.go`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import orjson

from hydrofoil import engine, errors
from hydrofoil.answer import Answer
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.handlers.delete import check_policy
from hydrofoil.endpoints.subresources.admitted import admission_of_subresource
from hydrofoil.endpoints.subresources.binding import SUCCESS, pods
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.label_selector import format_label_selector
from hydrofoil.registry.preconditions import check_deletion
from hydrofoil.registry.strategy import now
from hydrofoil.registry.write import Write

EVICTION = "io.k8s.api.policy.v1.Eviction"
ATTEMPTS = 20
"""How often an eviction meets other writes of its pod (`EvictionsRetry`)."""

MOST_DISRUPTED = 2000
"""How many evictions may wait for the controller of budgets (`MaxDisruptedPodSize`)."""

REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."


async def evict(context: Context) -> Answer:
    """Delete a pod unless a disruption budget forbids it (URI-17)."""
    native = context.registry.catalog.kind("policy", "v1", "Eviction", EVICTION)
    received = await body.read(context, native, "CreateOptions", also="policy/v1beta1")
    given, options = received.draft, received.options
    info = context.info
    admission = admission_of_subresource(context, pods(context), dry_run=options.dry_run)
    given.set(["metadata", "namespace"], orjson.dumps(info.namespace))
    await admission.mutate(given)
    if given.metadata().name != info.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    asked = orjson.loads(given.json()).get("deleteOptions", {})
    if asked.get("ignoreStoreReadErrorWithClusterBreakingPotential"):
        text = "Invalid value: true: can not be set for pod eviction, try after removing the option"
        cause = ("FieldValueInvalid", text, "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential")
        raise errors.invalid("policy", "Eviction", info.name, [cause])
    if options.dry_run:
        given.set(["deleteOptions", "dryRun"], b'["All"]')
    await admission.validate(given)
    check_policy(asked.get("propagationPolicy"), asked.get("orphanDependents"))
    preconditions = asked.get("preconditions", {})
    deletion = DeleteOptions(
        grace=asked.get("gracePeriodSeconds"),
        uid=preconditions.get("uid"),
        revision=preconditions.get("resourceVersion"),
        policy=asked.get("propagationPolicy"),
        dry_run=options.dry_run or bool(asked.get("dryRun")),
    )
    pod = await _evict_unguarded(context, deletion)
    if pod is None:
        return respond.json(context, SUCCESS, 201)
    budget, unhealthy = await _disrupt(context, pod, dry_run=deletion.dry_run)
    try:
        await _remove(context, _pin_version(deletion, pod) if unhealthy else deletion)
    except errors.ApiError as error:
        if error.code == 409 and unhealthy and deletion.revision is None:
            raise _processing(budget) from None
        raise
    return respond.json(context, SUCCESS, 201)


async def _evict_unguarded(context: Context, deletion: DeleteOptions) -> Stored | None:
    """Remove a pod that no budget guards: one that has ended, ends or has not started. Return any other pod."""
    for attempt in range(1, ATTEMPTS + 1):
        pod = context.registry.get(pods(context), context.info.namespace, context.info.name)
        raw = orjson.loads(pod.json)
        phase = raw.get("status", {}).get("phase")
        ends = phase in ("Succeeded", "Failed") or "deletionTimestamp" in raw["metadata"]
        if not ends and phase != "Pending":
            return pod
        try:
            await _remove(context, deletion if ends or deletion.revision is not None else _pin_version(deletion, pod))
        except errors.ApiError as error:
            if error.code != 409 or deletion.revision is not None or attempt == ATTEMPTS:
                raise
        else:
            return None
    raise AssertionError


def _pin_version(deletion: DeleteOptions, pod: Stored) -> DeleteOptions:
    """Return the options for this version of a pod: another one may have become healthy."""
    return msgspec.structs.replace(deletion, revision=str(pod.revision))


async def _remove(context: Context, deletion: DeleteOptions) -> None:
    """Delete the pod, and state the reason in its conditions first."""
    info = context.info
    if not deletion.dry_run:
        marked = await context.registry.update(
            pods(context),
            info.namespace,
            info.name,
            _marking(context, deletion),
            Write(subresource="status", patch=True),
        )
        if deletion.revision is not None:
            deletion = _pin_version(deletion, marked)
    await context.registry.delete(pods(context), info.namespace, info.name, deletion, Write())


def _marking(context: Context, deletion: DeleteOptions) -> Callable[[Stored], Draft]:
    """Return a pod with the condition DisruptionTarget. Raise ApiError 409 if it is not the one that was meant."""
    stated = {"reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}

    def mark(pod: Stored) -> Draft:
        draft = pod.thaw()
        check_deletion(pods(context), pod.name, pod, draft, deletion)
        conditions: list[dict[str, Any]] = orjson.loads(draft.get(["status", "conditions"]) or b"[]")
        present = next((c for c in conditions if c["type"] == "DisruptionTarget"), None)
        if present is None:
            present = {"type": "DisruptionTarget"}
            conditions.append(present)
        if present.get("status") != "True":
            present |= {"status": "True", "lastTransitionTime": orjson.loads(now(context.parts.clock))}
        present |= stated
        draft.set(["status", "conditions"], orjson.dumps(conditions))
        return draft

    return mark


async def _disrupt(context: Context, pod: Stored, *, dry_run: bool) -> tuple[str, bool]:
    """Take one disruption from the budget that covers a pod.

    Return the name of the budget, and whether the pod is unhealthy and its budget asks for no disruption. Raise
    ApiError 429 if no disruption is left.
    """
    raw = orjson.loads(pod.json)
    budgets = context.registry.catalog.find("policy", "v1", "poddisruptionbudgets")
    if budgets is None:
        return "", False
    labels = raw["metadata"].get("labels", {})
    covering = [b for b in context.registry.all(budgets, pod.namespace) if _covers(budgets, b, labels)]
    if not covering:
        return "", False
    if len(covering) > 1:
        text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise errors.ApiError(500, "", text)
    budget = covering[0]
    if not _ready(raw) and _spares_unhealthy(orjson.loads(budget.json)):
        return budget.name, True
    write = Write(subresource="status", manager="kube-apiserver", dry_run=dry_run, patch=True)
    taking = _taking(pod.name, context.parts.clock)
    await context.registry.update(budgets, pod.namespace, budget.name, taking, write)
    return budget.name, False


def _ready(pod: dict[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions", ())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _spares_unhealthy(budget: dict[str, Any]) -> bool:
    """Report whether an unhealthy pod leaves a budget as it is."""
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status", {})
    return bool(status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0)


def _processing(budget: str) -> errors.ApiError:
    """Return the refusal of a budget whose status is behind."""
    causes = [
        {
            "reason": "DisruptionBudget",
            "message": f"The disruption budget {budget} is still being processed by the server.",
        }
    ]
    return errors.ApiError(429, "TooManyRequests", REFUSED, {"causes": causes}, retry_after=10)


def _taking(pod: str, clock: Clock) -> Callable[[Stored], Draft]:
    """Return the budget less one disruption, by its version at the write. Raise ApiError 429 if none is left."""

    def take(budget: Stored) -> Draft:
        stated = orjson.loads(budget.json)
        status = stated.get("status", {})
        allowed = status.get("disruptionsAllowed", 0)
        if status.get("observedGeneration", 0) < stated["metadata"].get("generation", 0):
            raise _processing(budget.name)
        if len(status.get("disruptedPods", ())) > MOST_DISRUPTED:
            why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
            raise errors.forbidden("policy", "poddisruptionbudget", budget.name, why)
        if allowed <= 0:
            causes = [{"reason": "DisruptionBudget", "message": _exhausted_budget_text(budget.name, status)}]
            raise errors.ApiError(429, "TooManyRequests", REFUSED, {"causes": causes})
        draft = budget.thaw()
        draft.set(["status", "disruptionsAllowed"], b"%d" % (allowed - 1))
        if allowed == 1:
            draft.set(["status", "conditions"], orjson.dumps(_insufficient(status, now(clock))))
        draft.set(["status", "disruptedPods", pod], now(clock))
        return draft

    return take


def _exhausted_budget_text(name: str, status: dict[str, Any]) -> str:
    """Return the reason for which a budget allows no disruption."""
    conditions: list[dict[str, Any]] = status.get("conditions", [])
    condition = next((c for c in conditions if c["type"] == "DisruptionAllowed"), {})
    message = condition.get("message", "") if condition.get("status") == "False" else ""
    refusal = f"The disruption budget {name} does not allow evicting pods currently"
    if message and condition["reason"] == "SyncFailed":
        return f"{refusal} because it failed sync: {message}"
    needed, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    if healthy <= needed:
        return f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
    return f"{refusal} ({condition['reason']}): {message}" if message else refusal


def _insufficient(status: dict[str, Any], moment: bytes) -> list[dict[str, Any]]:
    """Return the conditions of a budget that has no disruption left (`UpdateDisruptionAllowedCondition`)."""
    conditions: list[dict[str, Any]] = status.get("conditions", [])
    present = next((c for c in conditions if c["type"] == "DisruptionAllowed"), None)
    if present is None:
        present = {"type": "DisruptionAllowed"}
        conditions.append(present)
    if present.get("status") != "False":
        present |= {"status": "False", "lastTransitionTime": orjson.loads(moment)}
    present |= {"reason": "InsufficientPods", "message": "", "observedGeneration": status.get("observedGeneration", 0)}
    return conditions


def _covers(budgets: Resource, budget: Stored, labels: dict[str, str]) -> bool:
    selector = orjson.loads(budget.json)["spec"].get("selector")
    if selector is None:
        return False
    probe = budgets.native.empty()
    probe.set(["metadata"], orjson.dumps({"name": "p", "labels": labels}))
    chosen = engine.Selector(budgets.native, "", format_label_selector(selector), "")
    return chosen.matches(probe.preview(0))
