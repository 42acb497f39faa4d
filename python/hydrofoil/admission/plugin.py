"""The interface of an admission plug-in."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from hydrofoil.admission.attributes import Attributes
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation


class Plugin(Protocol):
    """One plug-in; a step that it does not override is never called."""

    name: str = ""
    """Its name in flags and metrics."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        """Report whether it handles such requests; the result is kept until `Chain.changed()`."""

    def mutate(self, a: Attributes) -> Awaitable[None] | None:
        """Change the draft; return an awaitable only to wait. Raise ApiError to refuse."""
        return None

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Check the request without changing the draft; return an awaitable only to wait. Raise ApiError to refuse."""
        return None

    async def close(self) -> None:
        """End all work beside requests."""
        return
