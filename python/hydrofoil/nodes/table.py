"""The kubelets as a controller among others: they run in the server that leads."""

from __future__ import annotations

from hydrofoil.controllers.descriptor import Descriptor
from hydrofoil.nodes.kubelet import Kubelet


def describe_nodes(count: int) -> Descriptor:
    """Return the descriptor of the kubelets of all simulated nodes, this many of which are made at the start."""
    return Descriptor(
        "kubelet",
        lambda deps: Kubelet.served(deps.registry.catalog),
        lambda runtime, _: Kubelet(runtime, count, runtime.registry.catalog.release),
    )
