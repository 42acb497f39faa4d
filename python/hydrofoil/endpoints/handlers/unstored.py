"""Resources without stored objects: reviews, bindings and component statuses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from hydrofoil.answer import Answer
from hydrofoil.apis.catalog import Resource
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers.component_status import components
from hydrofoil.endpoints.handlers.review import review
from hydrofoil.endpoints.subresources.binding import bind


def handles(resource: Resource) -> bool:
    """Report whether objects of a resource are created and returned, never stored."""
    return "list" not in resource.verbs or resource.kind == "ComponentStatus"


def tabled(resource: Resource, subresource: str) -> bool:
    """Report whether a resource can be shown as a Table: upstream's storage of these has no printer."""
    return subresource not in ("binding", "eviction", "token") and not handles(resource)


def handler(resource: Resource) -> Callable[[Context], Awaitable[Answer]]:
    """Return the handler of such a resource."""
    if resource.kind == "ComponentStatus":
        return components
    if resource.plural == "bindings":
        return bind
    return review
