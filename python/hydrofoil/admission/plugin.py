"""The interface of an admission plug-in."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, Protocol

from hydrofoil.admission.attributes import Attributes
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation
from hydrofoil.watch.follow import Followed


class Plugin(Protocol):
    """One plug-in; a step that it does not override is never called."""

    name: str = ""
    """Its name in flags and metrics."""

    followed: Sequence[Followed[Any]] = ()
    """The objects that configure it, if it does nothing without any."""

    def idle(self) -> bool:
        """Report whether it has no such objects: then its steps are not called."""
        return False

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
