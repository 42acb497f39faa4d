"""The table of subresources and their handlers."""

from __future__ import annotations

from hydrofoil.apis.catalog import Resource, Subresource
from hydrofoil.endpoints.context import Handler
from hydrofoil.endpoints.handlers.get import get
from hydrofoil.endpoints.handlers.patch import patch
from hydrofoil.endpoints.handlers.update import update
from hydrofoil.endpoints.subresources import binding, eviction, kubelet, scale, token

GENERIC: dict[str, Handler] = {"get": get, "update": update, "patch": patch}
"""Subresources of the object's own kind: status, approval, resize, ephemeralcontainers, finalize."""
KUBELET = frozenset({"attach", "exec", "log", "portforward"})


def handler(resource: Resource, sub: Subresource, verb: str) -> Handler:
    """Return the handler of a subresource's verb."""
    if sub.kind == resource.kind and sub.name not in KUBELET:
        return GENERIC[verb]
    if sub.name == "scale":
        return scale.HANDLERS[verb]
    if sub.name == "token":
        return token.create
    if sub.name == "binding":
        return binding.bind
    if sub.name == "eviction":
        return eviction.evict
    return kubelet.reach
