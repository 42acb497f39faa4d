"""The AlwaysAdmit and AlwaysDeny admission plug-ins."""

from __future__ import annotations

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation


class AlwaysAdmit(Plugin):
    """Admit every request."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return False


class AlwaysDeny(Plugin):
    """Refuse every request."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return True

    def mutate(self, a: Attributes) -> None:
        """Raise ApiError 403."""
        raise a.forbidden("admission control is denying all modifications")

    validate = mutate
