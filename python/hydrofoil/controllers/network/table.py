"""The controllers of endpoints."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor, describe
from hydrofoil.controllers.network.endpoint import EndpointController
from hydrofoil.controllers.network.endpoint_slice import EndpointSliceController
from hydrofoil.controllers.network.endpoint_slice_mirroring import EndpointSliceMirroringController

DESCRIPTORS: tuple[Descriptor, ...] = (
    describe(EndpointController),
    Descriptor(
        EndpointSliceController.name,
        lambda deps: EndpointSliceController.served(deps.registry.catalog),
        lambda runtime, deps: EndpointSliceController(runtime, deps.options.max_endpoints_per_slice),
    ),
    Descriptor(
        EndpointSliceMirroringController.name,
        lambda deps: EndpointSliceMirroringController.served(deps.registry.catalog),
        lambda runtime, deps: EndpointSliceMirroringController(
            runtime, deps.options.mirroring_max_endpoints_per_subset
        ),
    ),
)
"""In the order in which they start."""
