"""Conditions in the status of pods that controllers set (`pkg/api/v1/pod`, UpdatePodCondition)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.engine import Draft

Condition = dict[str, Any]


def pod_condition(pod: Pod, kind: str, status: str, now: str, reason: str = "", message: str = "") -> Condition | None:
    """Return a condition that says something new of a pod; None if the pod has it already."""
    old = pod.condition(kind)
    generation = pod.metadata.generation
    if old is not None and (old.status, old.reason or "", old.message or "", old.observed_generation) == (
        status,
        reason,
        message,
        generation,
    ):
        return None
    keeps = old is not None and old.status == status and old.last_transition_time is not None
    condition: Condition = {
        "type": kind,
        "status": status,
        "observedGeneration": generation,
        "lastProbeTime": None,
        "lastTransitionTime": old.last_transition_time if keeps and old is not None else now,
    }
    if reason:
        condition["reason"] = reason
    if message:
        condition["message"] = message
    return condition


def put_condition(condition: Condition, draft: Draft) -> None:
    """Set a condition in the status of an object, in its place."""
    conditions = {c["type"]: c for c in orjson.loads(draft.get(["status", "conditions"]) or b"[]")}
    conditions[condition["type"]] = condition
    draft.set(["status", "conditions"], orjson.dumps(list(conditions.values())))
