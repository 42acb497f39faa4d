"""The answers of the kubelet of a simulated node: logs, and that nothing runs (kubelet `server/server.go`)."""

from __future__ import annotations

from typing import Any

from hydrofoil import errors
from hydrofoil.answer import TEXT, Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.params import Params, integer, is_true
from hydrofoil.go_text import quote

PREFIX = "sim.hydrofoil/"
NODE = PREFIX + "node"
"""The annotation of nodes that are simulated."""
LOGS = PREFIX + "logs"
"""The annotation of a pod with the text of its logs."""
NOTHING = (
    "This pod is simulated: no container runs, and nothing is logged. The annotation sim.hydrofoil/logs has its text."
)
KINDS = (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses"))


def is_simulated(node: dict[str, Any]) -> bool:
    """Report whether a node is simulated, alive or not."""
    return NODE in (node["metadata"].get("annotations") or {})


def container_of(pod: dict[str, Any], name: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the status of a container: the one that is asked for, or the first."""
    chosen = name or pod["spec"]["containers"][0]["name"]
    for _, kind in KINDS:
        for status in (pod.get("status") or {}).get(kind) or ():
            if status["name"] == chosen:
                return chosen, status
    return chosen, {}


def answer(context: Context, node: dict[str, Any], pod: dict[str, Any]) -> Answer:
    """Answer a request for a pod on a simulated node. Raise ApiError 400, 500 and 503."""
    if context.info.subresource == "log":
        return log(context, pod)
    if node["metadata"]["annotations"][NODE] == "dead":
        raise errors.ApiError(503, "ServiceUnavailable", f"node {quote(node['metadata']['name'])} is dead")
    name, _ = container_of(pod, context.params.get("container", ""))
    # A kubelet says so of a container that does not run; nothing runs on a simulated node.
    text = f"container not found ({quote(name)}): pod {quote(pod['metadata']['name'])} is simulated, and runs nothing"
    raise errors.ApiError(500, "InternalError", text)


def log(context: Context, pod: dict[str, Any]) -> Answer:
    """Return the log of a container (`GetKubeletContainerLogs`). Raise ApiError 400."""
    params = context.params
    name, status = container_of(pod, params.get("container", ""))
    of = f"container {quote(name)} in pod {quote(pod['metadata']['name'])}"
    if is_true(params.get("previous", "false")):
        if not status.get("lastState"):
            raise errors.bad_request(f"previous terminated {of} not found")
    elif "waiting" in status.get("state", {"waiting": {}}):
        why = status.get("state", {}).get("waiting", {}).get("reason", "ContainerCreating")
        if why != "CrashLoopBackOff":
            raise errors.bad_request(f"{of} is waiting to start: {why}")
    text = (pod["metadata"].get("annotations") or {}).get(LOGS)
    body = cut(NOTHING if text is None else text, params, (pod.get("status") or {}).get("startTime", ""))
    return respond.answer(context, 200, body, TEXT)


def cut(text: str, params: Params, moment: str) -> bytes:
    """Return the part of a log that is asked for, by lines and bytes; each line with its time if that is asked for."""
    lines = text.removesuffix("\n").split("\n") if text else []
    if (tail := integer(params, "tailLines")) is not None:
        lines = lines[len(lines) - tail :] if tail < len(lines) else lines
    if is_true(params.get("timestamps", "false")):
        lines = [f"{moment} {line}" for line in lines]
    body = "".join(f"{line}\n" for line in lines).encode()
    limit = integer(params, "limitBytes")
    return body if limit is None else body[:limit]
