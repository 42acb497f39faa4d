"""The controllers of endpoints."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor, describe
from hydrofoil.controllers.network.endpoint import EndpointController
from hydrofoil.controllers.network.endpoint_slice import EndpointSliceController
from hydrofoil.controllers.network.endpoint_slice_mirroring import EndpointSliceMirroringController

DESCRIPTORS: tuple[Descriptor, ...] = (
    describe(EndpointController),
    describe(EndpointSliceController),
    describe(EndpointSliceMirroringController),
)
"""In the order in which they start."""
