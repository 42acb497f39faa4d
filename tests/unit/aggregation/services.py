"""Registered services."""

from __future__ import annotations

from typing import Any

from hydrofoil.engine import Stored
from tests.unit.parts import Object, draft, resource

SERVICE = {"namespace": "a", "name": "s"}


def stored(version: str, group: str, service: Object | None = None, **spec: Any) -> Stored:
    """A stored API service."""
    body = {
        "metadata": {"name": f"{version}.{group}"},
        "spec": {"group": group, "version": version, "groupPriorityMinimum": 100, "versionPriority": 10, **spec},
    }
    if service:
        body["spec"]["service"] = service
    made = draft(resource("apiservices", "apiregistration.k8s.io"), body)
    made.set_type()
    return made.preview(1)
