"""Why other objects are not as one would expect: claims, services, nodes, budgets, and all that have conditions."""

from __future__ import annotations

from typing import Any

from hydrofoil.controls.why.findings import (
    CONTEXT,
    FAILING,
    STUCK,
    TOLD,
    WAITING,
    Findings,
    condition,
    say_reason,
    title,
)
from hydrofoil.controls.why.pods import claim_state, explain_pods, is_ready
from hydrofoil.controls.why.reader import Reader

Object = dict[str, Any]
GOOD = ("Ready", "Available", "Established", "Complete", "Healthy", "Synced", "Accepted", "Programmed", "Reconciled")
"""Conditions that are True where all is well."""


async def explain_claim(reader: Reader, item: Object, findings: Findings) -> bool:
    """Find why a claim is not bound; return whether it is."""
    if item.get("status", {}).get("phase") == "Bound":
        return True
    findings.add(STUCK, f"{title('claim', item)}: {await claim_state(reader, item)}")
    return False


async def explain_service(reader: Reader, item: Object, findings: Findings) -> bool:
    """Find why a service has no endpoints; return whether it has."""
    name, spec = title("service", item), item["spec"]
    if spec.get("type") == "ExternalName":
        return True
    selector = spec.get("selector")
    if not selector:
        findings.add(CONTEXT, f"{name}: it has no selector, so its endpoints are made by others")
        return True
    labels = ",".join(f"{key}={value}" for key, value in selector.items())
    pods = await reader.list("pods", item["metadata"]["namespace"], labelSelector=labels)
    ready = [pod for pod in pods if is_ready(pod)]
    if not pods:
        findings.add(STUCK, f"{name}: no pod has the labels {labels}")
    await explain_pods(reader, pods, findings)
    findings.add(CONTEXT, f"{name}: {len(ready)} of {len(pods)} pods with the labels {labels} are ready")
    return bool(ready)


async def explain_node(_: Reader, item: Object, findings: Findings) -> bool:
    """Find why a node takes no pods; return whether it does."""
    name, spec = title("node", item), item.get("spec") or {}
    ready = condition(item, "Ready")
    if ready.get("status") != "True":
        findings.add(STUCK, f"{name}: it is not ready: {say_reason(ready) or 'no kubelet has reported'}")
    for found in (item.get("status") or {}).get("conditions") or ():
        if found["type"].endswith("Pressure") and found["status"] == "True":
            findings.add(FAILING, f"{name}: {found['type']}: {say_reason(found)}")
    if spec.get("unschedulable"):
        findings.add(STUCK, f"{name}: it is cordoned")
    for taint in spec.get("taints") or ():
        findings.add(CONTEXT, f"{name}: it has the taint {taint['key']}:{taint['effect']}")
    return not findings.has_cause


async def explain_budget(_: Reader, item: Object, findings: Findings) -> bool:
    """Find why no pod may be evicted; return whether one may."""
    status, name = item.get("status") or {}, title("budget", item)
    allowed = status.get("disruptionsAllowed", 0)
    healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    text = f"{healthy} pods are healthy, {desired} have to be, {allowed} may be evicted"
    findings.add(CONTEXT if allowed else STUCK, f"{name}: {text}")
    return bool(allowed)


async def explain_quota(_: Reader, item: Object, findings: Findings) -> bool:
    """Find what is used up; return whether nothing is."""
    status = item.get("status") or {}
    hard, used = status.get("hard") or item["spec"].get("hard") or {}, status.get("used") or {}
    for resource, size in hard.items():
        if used.get(resource) == size:
            findings.add(FAILING, f"{title('quota', item)}: {resource} is used up ({size})")
    return not findings.has_cause


async def explain_any(reader: Reader, kind: str, item: Object, findings: Findings) -> bool:
    """Find what an object says of itself; return whether nothing is wrong."""
    name = title(kind, item)
    meta, status = item["metadata"], item.get("status") or {}
    if meta.get("deletionTimestamp"):
        holds = meta.get("finalizers") or (item.get("spec") or {}).get("finalizers") or []
        findings.add(STUCK, f"{name}: is being deleted, and waits for finalizers {', '.join(holds) or 'of nobody'}")
    for found in status.get("conditions") or ():
        kind_, state = str(found.get("type", "")), found.get("status")
        bad = (
            state in ("False", "Unknown")
            if kind_ in GOOD
            else kind_.endswith(("Failure", "Remaining")) and state == "True"
        )
        if bad:
            findings.add(WAITING if state == "Unknown" else FAILING, f"{name}: {kind_} is {state}: {say_reason(found)}")
    observed, generation = status.get("observedGeneration"), meta.get("generation")
    if observed is not None and generation is not None and observed < generation:
        text = f"its controller has seen generation {observed} alone (it has {generation})"
        findings.add(WAITING, f"{name}: {text}")
    for line in await reader.warnings(item):
        findings.add(TOLD, f"{name}: {line}")
    return not findings.has_cause
