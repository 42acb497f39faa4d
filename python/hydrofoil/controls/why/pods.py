"""Why a pod is not ready: its place, its claims, its containers, its node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hydrofoil.controls.why.findings import FAILING, STUCK, TOLD, WAITING, Findings, condition, say_reason, title
from hydrofoil.controls.why.reader import Reader

Object = dict[str, Any]


def is_ready(pod: Object) -> bool:
    """Report whether a pod is ready, or has ended well."""
    return condition(pod, "Ready").get("status") == "True" or pod.get("status", {}).get("phase") == "Succeeded"


async def explain_pods(reader: Reader, pods: list[Object], findings: Findings) -> None:
    """Find why pods are not ready: of those with one reason, the first is named, and how many there are."""
    groups: dict[tuple[tuple[int, str], ...], list[Object]] = {}
    for pod in pods:
        if not is_ready(pod):
            found = tuple([(rank, text) async for rank, text in _reasons(reader, pod)])
            groups.setdefault(found, []).append(pod)
    for reasons, alike in sorted(groups.items(), key=lambda entry: -len(entry[1])):
        more = f" (so are {len(alike) - 1} more pods)" if len(alike) > 1 else ""
        for rank, text in reasons:
            findings.add(rank, f"{title('pod', alike[0])}: {text}{more}")


async def explain_pod(reader: Reader, pod: Object, findings: Findings) -> None:
    """Find why one pod is not ready, and what events say."""
    await explain_pods(reader, [pod], findings)
    if not is_ready(pod):
        for line in await reader.warnings(pod):
            findings.add(TOLD, f"{title('pod', pod)}: {line}")


async def _reasons(reader: Reader, pod: Object) -> Any:
    """Yield rank and text of each reason."""
    meta, spec, status = pod["metadata"], pod["spec"], pod.get("status") or {}
    if meta.get("deletionTimestamp"):
        holds = meta.get("finalizers")
        why = f"finalizers {', '.join(holds)}" if holds else "its containers to stop"
        yield STUCK if holds else WAITING, f"is being deleted, and waits for {why}"
        return
    if status.get("phase") == "Failed":
        yield FAILING, f"failed: {_of_containers(status) or say_reason(status) or 'no container says why'}"
        return
    async for reason in _of_claims(reader, pod):
        yield reason
    if not spec.get("nodeName"):
        scheduled = condition(pod, "PodScheduled")
        if gates := spec.get("schedulingGates"):
            yield STUCK, f"waits for scheduling gates {', '.join(gate['name'] for gate in gates)} to be removed"
        elif scheduled.get("reason") == "Unschedulable":
            yield STUCK, f"fits no node: {scheduled.get('message', '')}"
        else:
            scheduler = spec.get("schedulerName", "default-scheduler")
            yield STUCK, f"has no node, and no scheduler named {scheduler} has looked at it"
        return
    node = await reader.get("nodes", "", spec["nodeName"])
    if node is None:
        yield STUCK, f"its node {spec['nodeName']} does not exist"
    elif (ready := condition(node, "Ready")).get("status") != "True":
        yield STUCK, f"its node {spec['nodeName']} is not ready: {say_reason(ready) or 'it has never reported'}"
    if why := _of_containers(status):
        yield FAILING if "exit code" in why else WAITING, why
    ready = condition(pod, "Ready")
    if not status.get("containerStatuses"):
        yield WAITING, f"no kubelet of node {spec['nodeName']} has reported on it"
    elif ready.get("reason") == "ReadinessGatesNotReady":
        yield STUCK, f"runs, but a readiness gate is not met: {ready.get('message', '')}"
    elif ready.get("status") != "True" and not why:
        yield WAITING, f"runs, but is not ready: {say_reason(ready)}"


def _of_containers(status: Object) -> str:
    """Return what containers say of themselves: those that have failed, and those that wait."""
    return "; ".join(_states((*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))))


def _states(statuses: tuple[Object, ...]) -> Iterator[str]:
    for each in statuses:
        state, last = each.get("state") or {}, (each.get("lastState") or {}).get("terminated")
        if (ended := state.get("terminated")) and ended.get("exitCode"):
            yield f"container {each['name']} ended with exit code {ended['exitCode']} ({ended.get('reason', 'Error')})"
        elif (waiting := state.get("waiting")) is not None:
            text = f"container {each['name']} waits: {say_reason(waiting) or 'it has not started'}"
            if last:
                text += f" (exit code {last.get('exitCode', 0)}, restarted {each.get('restartCount', 0)} times)"
            yield text


async def _of_claims(reader: Reader, pod: Object) -> Any:
    """Yield rank and text of each claim that is not bound."""
    meta = pod["metadata"]
    for volume in pod["spec"].get("volumes") or ():
        claim = volume.get("persistentVolumeClaim")
        if claim is None and "ephemeral" not in volume:
            continue
        name = f"{meta['name']}-{volume['name']}" if claim is None else claim["claimName"]
        found = await reader.get("persistentvolumeclaims", meta["namespace"], name)
        if found is None:
            yield STUCK, f"its claim {name} does not exist"
        elif found.get("status", {}).get("phase") != "Bound":
            yield STUCK, f"its claim {name} is {await claim_state(reader, found)}"


async def claim_state(reader: Reader, claim: Object) -> str:
    """Return the phase of a claim, and why it is not bound."""
    phase = claim.get("status", {}).get("phase") or "Pending"
    meta = claim["metadata"]
    events = await reader.list("events", meta["namespace"], fieldSelector=f"involvedObject.uid={meta['uid']}")
    events.sort(key=lambda event: event.get("lastTimestamp") or "")
    if events:
        return f"{phase}: {events[-1]['reason']}: {events[-1].get('message', '')}"
    name = claim["spec"].get("storageClassName")
    if name and await reader.get("storageclasses", "", name) is None:
        return f"{phase}: storage class {name} does not exist"
    return f"{phase}: no controller of volumes has looked at it" if phase == "Pending" else phase
