"""Values of objects as controllers read them."""

from __future__ import annotations

from itertools import count
from typing import Any

import msgspec

from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.volumes import PersistentVolume, PersistentVolumeClaim

NUMBERS = count(1)
Object = dict[str, Any]


def pod(name: str = "p", *, status: Object | None = None, meta: Object | None = None, **spec: Any) -> Pod:
    """Return a pod; one without containers has one that asks for nothing."""
    metadata = {"name": name, "namespace": "a", "uid": f"uid-{next(NUMBERS)}", **(meta or {})}
    spec.setdefault("containers", [{"name": "main", "image": "x"}])
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status or {}}, Pod)


def asking(name: str = "p", requests: Object | None = None, *, priority: int = 0, **more: Any) -> Pod:
    """Return a pod that asks for resources, by their names; `status` is its status."""
    status = more.pop("status", None)
    containers = [{"name": "main", "image": "x", "resources": {"requests": {**(requests or {}), **more}}}]
    return pod(name, status=status, containers=containers, priority=priority)


def node(name: str = "n", *, room: Object | None = None, labels: Object | None = None, **spec: Any) -> Node:
    """Return a node with 4 CPU, 8Gi and 110 pods."""
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110", **(room or {})}
    metadata = {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": {"allocatable": allocatable}}, Node)


def volume(name: str, size: str = "1Gi", *, phase: str = "Available", **spec: Any) -> PersistentVolume:
    """Return a volume."""
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": "c", **spec}
    found = {"metadata": {"name": name, "uid": name}, "spec": spec, "status": {"phase": phase}}
    return msgspec.convert(found, PersistentVolume)


def claim(name: str, size: str = "1Gi", *, meta: Object | None = None, **spec: Any) -> PersistentVolumeClaim:
    """Return a claim."""
    resources = {"requests": {"storage": size}}
    spec = {"resources": resources, "accessModes": ["ReadWriteOnce"], "storageClassName": "c", **spec}
    metadata = {"name": name, "namespace": "a", "uid": f"uid-{name}", **(meta or {})}
    return msgspec.convert({"metadata": metadata, "spec": spec}, PersistentVolumeClaim)
