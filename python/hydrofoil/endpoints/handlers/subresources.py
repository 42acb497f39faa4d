"""Which handler a subresource has."""

from __future__ import annotations

from hydrofoil.apis.catalog import Resource, Subresource
from hydrofoil.endpoints.context import Handler
from hydrofoil.endpoints.handlers import node, pods, scale, tokens
from hydrofoil.endpoints.handlers.get import get
from hydrofoil.endpoints.handlers.patch import patch
from hydrofoil.endpoints.handlers.update import update

GENERIC: dict[str, Handler] = {"get": get, "update": update, "patch": patch}
"""Subresources of the object's own kind: status, approval, resize, ephemeralcontainers, finalize."""
KUBELET = frozenset({"attach", "exec", "log", "portforward"})


def handler(resource: Resource, sub: Subresource, verb: str) -> Handler:
    """The handler of a subresource's verb."""
    if sub.kind == resource.kind and sub.name not in KUBELET:
        return GENERIC[verb]
    if sub.name == "scale":
        return scale.HANDLERS[verb]
    if sub.name == "token":
        return tokens.create
    if sub.name == "binding":
        return pods.bind
    if sub.name == "eviction":
        return pods.evict
    return node.reach
