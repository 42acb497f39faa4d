"""Limit ranges of a namespace (the LimitRanger admission plug-in)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hydrofoil import errors
from hydrofoil.engine import limit_fill

if TYPE_CHECKING:
    from hydrofoil.apis.catalog import Resource
    from hydrofoil.engine import Draft, Stored
    from hydrofoil.registry.store import Registry


class Limits:
    """Fills and refuses by the ranges of a namespace; a server without any is asked for nothing."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._resource = registry.catalog.find("", "v1", "limitranges")

    def _ranges(self, namespace: str) -> list[Stored]:
        if self._resource is None or not self._registry.collection(self._resource).stats().objects:
            return []
        return self._registry.all(self._resource, namespace)

    def fill(self, draft: Draft) -> None:
        """Gives the containers of a pod what they do not say themselves."""
        for found in self._ranges(draft.head()[4]):
            limit_fill(draft, found.json)

    def check(
        self, resource: Resource, old: Stored | None, draft: Draft, refusal: Callable[[bytes], str | None]
    ) -> None:
        """Raises 403 for what a range refuses; an object that is going is left alone."""
        head = draft.head()
        for found in self._ranges(head[4]):
            if old is not None and old.thaw().lifecycle()[1]:
                return
            if why := refusal(found.json):
                raise errors.forbidden(resource.group, resource.plural, head[2], why)
