"""Changes of objects that release something of a quota (`pkg/quota/v1/install/update_filter.go`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.controllers.runtime.fields import field
from hydrofoil.engine import Stored

ENDED = ("Failed", "Succeeded")


def _is_terminating(pod: Stored) -> bool:
    """Report whether a pod ends by itself, which is a scope of quotas."""
    return (field(pod, "spec", "activeDeadlineSeconds") or -1) >= 0


def _resources(pod: Stored) -> dict[str, Any]:
    """Return the resources that the containers of a pod have."""
    statuses = field(pod, "status", "containerStatuses") or ()
    return {status["name"]: status.get("resources") for status in statuses}


def _ended(pod: Stored) -> bool:
    return field(pod, "status", "phase") in ENDED


def _pod_releases(old: Stored, new: Stored) -> bool:
    if not _ended(old) and _ended(new):
        return True
    if _is_terminating(old) != _is_terminating(new):
        return True
    before, after = _resources(old), _resources(new)
    return any(name in after and after[name] != resources for name, resources in before.items())


def _service_type(service: Stored) -> tuple[Any, int]:
    """Return what of a service is counted beside itself."""
    kind = field(service, "spec", "type")
    ports = field(service, "spec", "ports") or ()
    return kind, len(ports) if kind in ("NodePort", "LoadBalancer") else 0


def _claim_usage(claim: Stored) -> tuple[Any, ...]:
    """Return what of a claim is counted, and its class of attributes, which is a scope of quotas."""
    return (
        field(claim, "spec", "resources"),
        field(claim, "status", "allocatedResources"),
        field(claim, "spec", "volumeAttributesClassName"),
    )


def releases(key: tuple[str, str], old: Stored, new: Stored) -> bool:
    """Report whether a change of an object of a resource (group, plural) may lower the usage of a quota."""
    match key:
        case ("", "pods"):
            return _pod_releases(old, new)
        case ("", "services"):
            return _service_type(old) != _service_type(new)
        case ("", "persistentvolumeclaims"):
            return _claim_usage(old) != _claim_usage(new)
        case _:
            return False
