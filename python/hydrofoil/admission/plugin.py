"""The interface of an admission plug-in."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, Protocol

from hydrofoil.admission.attributes import Attributes
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation
from hydrofoil.watch.follow import Followed


class Plugin(Protocol):
    """One plug-in; a step that it does not override is never called.

    `admission/order.py` names the plug-ins in upstream's order. A phase of a chain has those that handle a request:

    >>> from hydrofoil.admission.chain import Chain
    >>> from hydrofoil.apis.catalog import Catalog
    >>> class DefaultLabel(Plugin):
    ...     name = "DefaultLabel"
    ...     def handles(self, resource, subresource, operation):
    ...         return operation == "CREATE" and resource.plural == "pods"
    ...     def mutate(self, a):
    ...         a.draft.set(["metadata", "labels", "team"], b'"none"')
    >>> chain, catalog = Chain([DefaultLabel()]), Catalog()
    >>> def count(plural):
    ...     mutating, validating = chain.phases_of(catalog.find("", "v1", plural), "", "CREATE")
    ...     return len(mutating.steps), len(validating.steps)
    >>> count("pods"), count("secrets")
    ((1, 0), (0, 0))
    """

    name: str = ""
    """Its name in flags and metrics."""

    followed: Sequence[Followed[Any]] = ()
    """The objects that configure it, if it does nothing without any."""

    repeats: bool = True
    """Whether it decides the same on the same new object, as long as no other object is written."""

    def idle(self) -> bool:
        """Report whether it has no such objects, and nothing to do: then its steps need not be called."""
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
