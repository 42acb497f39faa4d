"""Device claims: admin access requires a label of the namespace."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft
from hydrofoil.errors import Cause
from hydrofoil.registry.strategy import Strategy

LABEL = "resource.kubernetes.io/admin-access"


class DeviceClaimStrategy(Strategy):
    """Check admin access (`AuthorizedForAdmin` of `pkg/registry/resource`)."""

    path: tuple[str, ...] = ("spec", "devices", "requests")

    def extra_causes(self, resource: Resource, namespace: str, draft: Draft) -> list[Cause]:
        requests: list[dict[str, Any]] = orjson.loads(draft.get(list(self.path)) or b"[]")
        asked = (i for i, r in enumerate(requests) if r.get("exactly", r).get("adminAccess"))
        first = next(asked, None)
        if first is None or self._trusted(namespace):
            return []
        text = f"Forbidden: admin access to devices requires the `{LABEL}: true` label on the containing namespace"
        return [("FieldValueForbidden", text, f"spec.devices.requests[{first}].adminAccess")]

    def _trusted(self, namespace: str) -> bool:
        found = self.objects.find("", "namespaces", "", namespace)
        if not found:
            return False
        labels: dict[str, str] = orjson.loads(found.json)["metadata"].get("labels", {})
        return labels.get(LABEL) == "true"


class DeviceTemplateStrategy(DeviceClaimStrategy):
    """The same for claim templates; upstream's message has the same path."""

    path = ("spec", "spec", "devices", "requests")
