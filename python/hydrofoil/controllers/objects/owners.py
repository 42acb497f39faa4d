"""The owner for which a controller acts."""

from __future__ import annotations

from typing import Any, NamedTuple

from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.runtime.recorder import Reference


class Owner(NamedTuple):
    """An object that owns others: Events are about it, and it adopts and releases what its selector says."""

    metadata: ObjectMeta
    api_version: str
    kind: str

    @property
    def about(self) -> Reference:
        """Return what Events name it by."""
        return self.metadata.reference(self.api_version, self.kind)

    @property
    def reference(self) -> dict[str, Any]:
        """Return the owner reference of what it manages (`metav1.NewControllerRef`)."""
        return self.metadata.owned_by(self.api_version, self.kind)
