"""The controllers of volumes."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor, describe
from hydrofoil.controllers.volumes.binder import VolumeBinder
from hydrofoil.controllers.volumes.ephemeral import EphemeralVolumes

DESCRIPTORS: tuple[Descriptor, ...] = (
    Descriptor(
        VolumeBinder.name,
        lambda deps: VolumeBinder.served(deps.registry.catalog),
        lambda runtime, deps: VolumeBinder(runtime, deps.options),
    ),
    describe(EphemeralVolumes),
)
"""In the order in which they start."""
