"""The DenyServiceExternalIPs admission plug-in."""

from __future__ import annotations

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.write import Operation


class DenyServiceExternalIPs(Plugin):
    """Refuse new external addresses of services; those that a service has may stay."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "services") and operation in ("CREATE", "UPDATE") and not subresource

    def validate(self, a: Attributes) -> None:
        """Raise ApiError 403."""
        given = set(orjson.loads(a.object.get(["spec", "externalIPs"]) or b"[]"))
        if given and a.old is not None:
            given -= set(orjson.loads(a.old.json).get("spec", {}).get("externalIPs") or ())
        if given:
            raise a.forbidden("Use of external IPs is denied by admission control")
