"""The release that a server follows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from hydrofoil.apis.emulation import minor_of
from hydrofoil.apis.gates import Gates
from hydrofoil.apis.releases.data import ReleaseData, load
from hydrofoil.options import Texts


class Release(Struct, frozen=True, eq=False):
    """A minor version with the states of its gates."""

    minor: int
    gates: Gates

    @classmethod
    def of(cls, emulated: tuple[str, ...] = (), gates: Mapping[str, bool] | None = None) -> Release:
        """Return the release of two flags. Raise ValueError for an unknown version, GateError for an invalid gate."""
        minor = minor_of(Texts(emulated))
        return cls(minor, Gates(gates or {}, minor))

    @property
    def data(self) -> ReleaseData:
        """Return the facts about the minor version."""
        return load(self.minor)

    def serves(self, group: str, plural: str) -> bool:
        """Report whether a resource may be served, if its version is on."""
        gate = self.data.resources.get(f"{group}/{plural}")
        return gate is None or self.gates.enabled(gate)


@cache
def default_release() -> Release:
    """Return the newest release, with every gate as it is by default."""
    return Release.of()
