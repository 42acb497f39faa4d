"""What a simulated kubelet reports of its node."""

from __future__ import annotations

from typing import Any

from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.nodes.marks import mark

Object = dict[str, Any]
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi"}
"""The capacity of a node that says nothing else."""
CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def report_node(node: Node, address: str, version: str, now: str) -> Object:
    """Return the members of the status of a node that is well; `address` is its own."""
    name = node.metadata.name
    room = {resource: mark(node.metadata, resource) or size for resource, size in ROOM.items()}
    conditions = []
    for kind, status, reason, message in CONDITIONS:
        old = node.condition(kind)
        since = old.last_transition_time if old is not None and old.status == status else now
        conditions.append(
            {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message,
                "lastHeartbeatTime": now,
                "lastTransitionTime": since,
            }
        )
    return {
        "capacity": room,
        "allocatable": room,
        "conditions": conditions,
        "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
        "nodeInfo": {
            "kubeletVersion": version,
            "operatingSystem": "linux",
            "architecture": "amd64",
            "osImage": "simulated",
            "kernelVersion": "0",
            "containerRuntimeVersion": "simulated://0",
            "machineID": name,
            "systemUUID": name,
            "bootID": name,
            "kubeProxyVersion": "",
        },
    }
