"""What services hold of addresses and node ports: a function of the services that there are."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from hydrofoil.engine import Stored
from hydrofoil.registry.strategies.cluster_ips import ClusterIPs, Spec
from hydrofoil.registry.strategies.ranges import Ports

Held = tuple[list[str], set[int]]
"""The cluster IPs and node ports of a service."""


class Allocated:
    """The ranges of a cluster, and who holds what of them."""

    def __init__(self, ips: ClusterIPs, ports: Ports) -> None:
        self.ips = ips
        self.ports = ports
        self._held: dict[tuple[str, str], Held] = {}

    def replace(self, objects: Iterable[Stored]) -> None:
        """Take in all services that there are."""
        for held in self._held.values():
            self.release(held)
        self._held.clear()
        for stored in objects:
            self.apply(None, stored)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Take in a change."""
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

    async def settle(self) -> None:
        """All of it is in at once."""

    def release(self, held: Held) -> None:
        """Give back what a service held, or what a write was about to give it."""
        self.ips.release(held[0])
        self.ports.release(held[1])


def held_by(spec: Spec) -> Held:
    """What a service has."""
    return list(spec.get("clusterIPs") or ()), node_ports(spec)


def node_ports(spec: Spec) -> set[int]:
    """The node ports of a service, each once."""
    ports = {p["nodePort"] for p in spec.get("ports") or () if p.get("nodePort")}
    if spec.get("healthCheckNodePort"):
        ports.add(spec["healthCheckNodePort"])
    return ports
