"""The answer to `why RESOURCE/NAME`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from typing import Any

from hydrofoil.controls.why.findings import CONTEXT, Findings, title
from hydrofoil.controls.why.others import (
    explain_any,
    explain_budget,
    explain_claim,
    explain_node,
    explain_quota,
    explain_service,
)
from hydrofoil.controls.why.pods import explain_pod, is_ready
from hydrofoil.controls.why.reader import Reader
from hydrofoil.controls.why.workloads import (
    explain_cron_job,
    explain_daemon_set,
    explain_deployment,
    explain_job,
    explain_replica_set,
    explain_stateful_set,
)
from hydrofoil.errors import ApiError

Object = dict[str, Any]
Explain = Callable[[Reader, Object, Findings], Awaitable[bool]]


async def _explain_one_pod(reader: Reader, item: Object, findings: Findings) -> bool:
    await explain_pod(reader, item, findings)
    return is_ready(item)


async def _explain_controller(reader: Reader, item: Object, findings: Findings) -> bool:
    return await explain_replica_set(reader, item, findings, "replicationcontroller")


KINDS: dict[tuple[str, str], Explain] = {
    ("", "pods"): _explain_one_pod,
    ("", "replicationcontrollers"): _explain_controller,
    ("", "persistentvolumeclaims"): explain_claim,
    ("", "services"): explain_service,
    ("", "nodes"): explain_node,
    ("", "resourcequotas"): explain_quota,
    ("apps", "deployments"): explain_deployment,
    ("apps", "replicasets"): explain_replica_set,
    ("apps", "statefulsets"): explain_stateful_set,
    ("apps", "daemonsets"): explain_daemon_set,
    ("batch", "jobs"): explain_job,
    ("batch", "cronjobs"): explain_cron_job,
    ("policy", "poddisruptionbudgets"): explain_budget,
}


async def answer_why(reader: Reader, object: str, namespace: str) -> list[str]:
    """Return at most ten lines on why an object, as `deployments/web`, is not ready: the most likely cause first.

    One line says so where nothing is wrong. Raise ApiError 404 with near names for an object or a resource that does
    not exist, ValueError for another form.
    """
    resource, slash, name = object.partition("/")
    if not slash or not resource or not name or "/" in name:
        raise ValueError(f"{object!r} is no object, such as deployments/web")
    served = await reader.find(resource)
    if served is None:
        near = await reader.near(resource)
        hint = f" ({', '.join(near)}?)" if near else ""
        raise ApiError(404, "NotFound", f"no resource {resource!r} is served{hint}")
    place = namespace if served.namespaced else ""
    item = await reader.get(served.title, place, name)
    if item is None:
        others = [other["metadata"]["name"] for other in await reader.list(served.title, place)]
        near = get_close_matches(name, others, 3)
        hint = f" ({', '.join(near)}?)" if near else ""
        within = f" in namespace {place}" if place else ""
        raise ApiError(404, "NotFound", f'{served.title} "{name}" not found{within}{hint}')
    findings, kind = Findings(), served.kind.lower()
    explain = KINDS.get((served.group, served.plural))
    if item["metadata"].get("deletionTimestamp") and served.plural != "pods":
        await explain_any(reader, kind, item, findings)
    good = await (explain_any(reader, kind, item, findings) if explain is None else explain(reader, item, findings))
    if good and not findings.has_cause:
        return [f"{title(kind, item)}: nothing is wrong", *findings.lines()][: 1 + bool(findings.lines())]
    if not findings.lines():
        findings.add(CONTEXT, f"{title(kind, item)}: it says nothing of itself, and no event does")
    return findings.lines()
