"""Objects of workloads, and what a test asks of a cluster."""

from __future__ import annotations

from typing import Any

from hydrofoil.testing.remote_server import RemoteServer

Object = dict[str, Any]
MARK = "sim.hydrofoil/"


def pod(name: str, marks: dict[str, str] | None = None, **spec: Any) -> Object:
    """Return a pod with annotations of the simulation."""
    annotations = {MARK + key: value for key, value in (marks or {}).items()}
    spec.setdefault("containers", [{"name": "main", "image": "x"}])
    metadata = {"name": name, "namespace": "default", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def deployment(name: str, replicas: int, marks: dict[str, str] | None = None, **spec: Any) -> Object:
    """Return a deployment whose pods have annotations of the simulation."""
    template = pod(name, marks)
    labels = {"app": name}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels, "annotations": template["metadata"]["annotations"]},
            "spec": template["spec"],
        },
        **spec,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def phases(server: RemoteServer) -> dict[str, str]:
    """Return the phases of all pods by name; one that is being deleted ends in `!`."""
    return {
        item["metadata"]["name"]: item["status"]["phase"] + ("!" if "deletionTimestamp" in item["metadata"] else "")
        for item in server.list("pods", namespace="default")
    }


def condition(item: Object, kind: str) -> Object:
    """Return a condition of an object; empty if it is absent."""
    found: list[Object] = [c for c in item["status"].get("conditions", []) if c["type"] == kind]
    return found[0] if found else {}
