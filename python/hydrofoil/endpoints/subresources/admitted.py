"""Admission of subresources whose objects are not stored."""

from __future__ import annotations

from hydrofoil.admission.chain import Admission
from hydrofoil.apis.catalog import Resource
from hydrofoil.endpoints.context import Context
from hydrofoil.engine import Draft


class Admitted:
    """The admission of one request that creates a subresource."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission

    async def mutate(self, draft: Draft) -> None:
        """Run the mutating plug-ins. Raise ApiError."""
        if (waits := self._admission.mutate("CREATE", draft, None)) is not None:
            await waits

    async def validate(self, draft: Draft) -> None:
        """Run the validating plug-ins. Raise ApiError."""
        if (waits := self._admission.validate("CREATE", draft, None)) is not None:
            await waits


def admitted(context: Context, resource: Resource, *, dry_run: bool) -> Admitted:
    """Return the admission of a request for a subresource."""
    admit = context.write(dry_run=dry_run, resource=resource).admit
    assert isinstance(admit, Admission), "the chain makes it"
    return Admitted(admit)
