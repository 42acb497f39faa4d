"""Admission of requests whose objects are not stored."""

from __future__ import annotations

from hydrofoil.admission.chain import Admission
from hydrofoil.apis.catalog import Resource
from hydrofoil.endpoints.context import Context
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.write import Operation


class Admitted:
    """The admission of one request."""

    def __init__(self, admission: Admission, operation: Operation) -> None:
        self._admission = admission
        self._operation: Operation = operation

    async def mutate(self, draft: Draft, old: Stored | None = None) -> None:
        """Run the mutating plug-ins. Raise ApiError."""
        if (waits := self._admission.mutate(self._operation, draft, old)) is not None:
            await waits

    async def validate(self, draft: Draft, old: Stored | None = None) -> None:
        """Run the validating plug-ins. Raise ApiError."""
        if (waits := self._admission.validate(self._operation, draft, old)) is not None:
            await waits


def admission_of_subresource(
    context: Context, resource: Resource, *, dry_run: bool, operation: Operation = "CREATE"
) -> Admitted:
    """Return the admission of a request for a subresource, or for an object that is only answered."""
    admit = context.write(dry_run=dry_run, resource=resource).admit
    assert isinstance(admit, Admission), "the chain makes it"
    return Admitted(admit, operation)
