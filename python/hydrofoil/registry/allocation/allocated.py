"""The addresses and node ports in use: a function of the present services."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import orjson

from hydrofoil.engine import Stored
from hydrofoil.registry.allocation.cluster_ips import ClusterIPs, Spec
from hydrofoil.registry.allocation.ranges import Ports

Held = tuple[list[str], set[int]]
"""The cluster IPs and node ports of a service."""


class Allocated:
    """The ranges of a cluster, and their use by services."""

    def __init__(self, ips: ClusterIPs, ports: Ports) -> None:
        self.ips = ips
        self.ports = ports
        self._held: dict[tuple[str, str], Held] = {}

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present services."""
        for held in self._held.values():
            self.release(held)
        self._held.clear()
        for stored in objects:
            self.apply(None, stored)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        present = new or old
        assert present is not None
        key = (present.namespace, present.name)
        before = self._held.pop(key, None)
        if new is not None:
            held = self._held[key] = held_by(orjson.loads(new.json)["spec"])
            self.ips.hold(held[0])
            self.ports.hold(held[1])
        if before is not None:
            self.release(before)

    def held_ports(self) -> Iterable[int]:
        """Return the node ports of services, those of several once for each."""
        return chain.from_iterable(ports for _, ports in self._held.values())

    async def settle(self) -> None:
        """Return at once: nothing is pending."""

    def release(self, held: Held) -> None:
        """Release the addresses and ports of a service, or of a write that was about to assign them."""
        self.ips.release(held[0])
        self.ports.release(held[1])


def held_by(spec: Spec) -> Held:
    """Return the addresses and ports of a service."""
    return list(spec.get("clusterIPs") or ()), node_ports(spec)


def node_ports(spec: Spec) -> set[int]:
    """Return the node ports of a service, each once."""
    ports = {p["nodePort"] for p in spec.get("ports") or () if p.get("nodePort")}
    if spec.get("healthCheckNodePort"):
        ports.add(spec["healthCheckNodePort"])
    return ports
