"""Anonymous requests (apiserver `request/anonymous/anonymous.go`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hydrofoil.authentication.jwt.configuration import Anonymous


class Conditions:
    """The paths that anonymous requests may have: any, none, or those that a configuration lists."""

    def __init__(self, *, enabled: bool, said: Anonymous | None = None) -> None:
        """Follow the flag, `enabled`, unless the configuration has a part for it."""
        self.enabled = enabled if said is None else said.enabled
        self._paths = frozenset(said.paths) if said is not None else frozenset()

    def allows(self, path: str) -> bool:
        """Report whether an anonymous request may have a decoded path; method and query do not matter."""
        return self.enabled and (not self._paths or path in self._paths)
