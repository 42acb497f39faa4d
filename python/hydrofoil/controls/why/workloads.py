"""Why a workload is not ready: what it has made, and what it could not make."""

from __future__ import annotations

from typing import Any

from hydrofoil.controls.why.findings import (
    CONTEXT,
    FAILING,
    REFUSED,
    STUCK,
    TOLD,
    Findings,
    condition,
    say_reason,
    title,
)
from hydrofoil.controls.why.pods import explain_pods
from hydrofoil.controls.why.reader import Reader

Object = dict[str, Any]
REFUSALS = ("FailedCreate", "ReplicaSetCreateError")
"""The reasons of events and conditions of a write that was refused, by quota, webhooks or rights."""


async def explain_refusals(reader: Reader, kind: str, item: Object, findings: Findings) -> None:
    """Find what the API refused to the controller of an object."""
    failure = condition(item, "ReplicaFailure")
    if failure.get("status") == "True":
        findings.add(REFUSED, f"{title(kind, item)}: {say_reason(failure)}")
    for line in await reader.warnings(item):
        rank = REFUSED if line.startswith(REFUSALS) else TOLD
        findings.add(rank, f"{title(kind, item)}: {line}")


def unseen(kind: str, item: Object, findings: Findings) -> bool:
    """Note that no controller has looked at the present state of an object."""
    generation = item["metadata"].get("generation", 0)
    observed = (item.get("status") or {}).get("observedGeneration", 0)
    if observed >= generation:
        return False
    name = title(kind, item)
    why = "no controller has looked at it" if not observed else f"its controller has seen generation {observed} alone"
    findings.add(STUCK, f"{name}: {why} (it has generation {generation}); does its controller run (serve --cluster)?")
    return True


async def explain_deployment(reader: Reader, item: Object, findings: Findings) -> bool:
    """Find why a deployment is not available; return whether it is."""
    spec, status = item["spec"], item.get("status") or {}
    wanted, available = spec.get("replicas", 1), status.get("availableReplicas", 0)
    updated = status.get("updatedReplicas", 0)
    new = not unseen("deployment", item, findings)
    if spec.get("paused"):
        findings.add(STUCK if updated < wanted else CONTEXT, f"{title('deployment', item)}: it is paused")
    progressing = condition(item, "Progressing")
    if progressing.get("status") == "False":
        findings.add(CONTEXT, f"{title('deployment', item)}: {say_reason(progressing)}")
    # As `kubectl rollout status`: pods of an older template may be what is available.
    total = status.get("replicas", 0)
    is_ready = new and updated >= wanted and total <= updated and available >= updated
    if not is_ready:
        sets = await reader.owned("replicasets.apps", item)
        for one in sets:
            if one["spec"].get("replicas", 0):
                await explain_replica_set(reader, one, findings)
        await explain_refusals(reader, "deployment", item, findings)
    text = f"{available} of {wanted} replicas are available, {updated} updated"
    findings.add(CONTEXT, f"{title('deployment', item)}: {text}")
    return is_ready


async def explain_replica_set(reader: Reader, item: Object, findings: Findings, kind: str = "replicaset") -> bool:
    """Find why a replica set or replication controller is not ready; return whether it is."""
    wanted = item["spec"].get("replicas", 1)
    return await _explain_set(reader, kind, item, wanted, "availableReplicas", findings)


async def _explain_set(reader: Reader, kind: str, item: Object, wanted: int, member: str, findings: Findings) -> bool:
    """Find why a set of pods is not ready; `member` of its status counts those that are."""
    status = item.get("status") or {}
    ready = status.get(member, 0)
    is_seen = not unseen(kind, item, findings)
    if is_seen and ready >= wanted:
        return True
    pods = await reader.owned("pods", item)
    await explain_refusals(reader, kind, item, findings)
    await explain_pods(reader, pods, findings)
    findings.add(CONTEXT, f"{title(kind, item)}: {len(pods)} of {wanted} pods exist, {ready} are available")
    return False


async def explain_stateful_set(reader: Reader, item: Object, findings: Findings) -> bool:
    """Find why a stateful set is not ready; return whether it is."""
    wanted, status = item["spec"].get("replicas", 1), item.get("status") or {}
    is_ready = await _explain_set(reader, "statefulset", item, wanted, "availableReplicas", findings)
    new, old = status.get("updateRevision"), status.get("currentRevision")
    if new and new != old and item["spec"].get("updateStrategy", {}).get("type") == "OnDelete":
        text = f"pods of revision {old} stay until they are deleted (updateStrategy OnDelete)"
        findings.add(CONTEXT, f"{title('statefulset', item)}: {text}")
    return is_ready


async def explain_daemon_set(reader: Reader, item: Object, findings: Findings) -> bool:
    """Find why a daemon set is not ready; return whether it is."""
    status = item.get("status") or {}
    wanted = status.get("desiredNumberScheduled", 0)
    if not await _explain_set(reader, "daemonset", item, wanted, "numberAvailable", findings):
        return False
    if not wanted:
        findings.add(CONTEXT, f"{title('daemonset', item)}: no node is meant by its selector and tolerations")
    return bool(status.get("updatedNumberScheduled", 0) >= wanted)


async def explain_job(reader: Reader, item: Object, findings: Findings) -> bool:
    """Find why a job is not complete; return whether it is."""
    status, spec = item.get("status") or {}, item["spec"]
    if condition(item, "Complete").get("status") == "True":
        return True
    failed = condition(item, "Failed")
    if failed.get("status") == "True":
        findings.add(FAILING, f"{title('job', item)}: {say_reason(failed)}")
    if spec.get("suspend"):
        findings.add(STUCK, f"{title('job', item)}: it is suspended")
    if not status and not spec.get("suspend"):
        findings.add(STUCK, f"{title('job', item)}: no controller has looked at it (serve --cluster)")
    await explain_refusals(reader, "job", item, findings)
    pods = await reader.owned("pods", item)
    await explain_pods(reader, [pod for pod in pods if not spec.get("suspend")], findings)
    done, wanted = status.get("succeeded", 0), spec.get("completions") or spec.get("parallelism", 1)
    text = f"{done} of {wanted} pods have succeeded, {status.get('failed', 0)} have failed"
    findings.add(CONTEXT, f"{title('job', item)}: {text}")
    return False


async def explain_cron_job(reader: Reader, item: Object, findings: Findings) -> bool:
    """Find why a cron job runs no job; return whether nothing is wrong."""
    name = title("cronjob", item)
    if item["spec"].get("suspend"):
        findings.add(STUCK, f"{name}: it is suspended")
    await explain_refusals(reader, "cronjob", item, findings)
    jobs = await reader.owned("jobs.batch", item)
    for job in sorted(jobs, key=lambda j: j["metadata"]["creationTimestamp"])[-1:]:
        await explain_job(reader, job, findings)
    last = (item.get("status") or {}).get("lastScheduleTime") or "never"
    findings.add(CONTEXT, f"{name}: its schedule is {item['spec']['schedule']!r}, last run: {last}, {len(jobs)} jobs")
    return not findings.has_cause
