"""The controllers of volumes."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor, describe
from hydrofoil.controllers.volumes.attach import AttachDetach
from hydrofoil.controllers.volumes.binder import VolumeBinder
from hydrofoil.controllers.volumes.ephemeral import EphemeralVolumes
from hydrofoil.controllers.volumes.resource_claims import ResourceClaims

DESCRIPTORS: tuple[Descriptor, ...] = (
    Descriptor(
        VolumeBinder.name,
        lambda deps: VolumeBinder.served(deps.registry.catalog),
        lambda runtime, deps: VolumeBinder(runtime, deps.options),
    ),
    describe(EphemeralVolumes),
    describe(AttachDetach),
    describe(ResourceClaims),
)
"""In the order in which they start."""
