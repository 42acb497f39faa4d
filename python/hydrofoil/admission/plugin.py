"""What an admission plug-in is."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from hydrofoil.admission.attributes import Attributes
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation


class Plugin(Protocol):
    """One plug-in; a step that it does not override is never called."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        """Whether it looks at such requests; the answer is kept until `Chain.changed()`."""

    def mutate(self, a: Attributes) -> Awaitable[None] | None:
        """Change the draft; an awaitable only to wait. Raises ApiError."""
        return None

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Refuse a request, the draft is left alone; an awaitable only to wait. Raises ApiError."""
        return None
