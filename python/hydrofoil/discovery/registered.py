"""The view of API services that discovery needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from hydrofoil.apis.registration import Registration


class Registered(Protocol):
    """The registered API services."""

    @property
    def changes(self) -> int:
        """A count that grows with each change: results derived from an earlier table are stale."""

    @property
    def remote(self) -> Mapping[tuple[str, str], Registration]:
        """Those behind a service, by group and version."""

    @property
    def discovered(self) -> Mapping[str, dict[str, Any]]:
        """The APIVersionDiscovery of each of those, by name."""

    def groups(self) -> dict[str, list[str]]:
        """Return the groups in the order of discovery and their versions, the preferred one first."""
