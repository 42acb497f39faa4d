"""The canonical form of subsets of Endpoints (`pkg/api/v1/endpoints/util.go`, RepackSubsets)."""

from __future__ import annotations

from collections.abc import Iterable

from hydrofoil.controllers.objects.endpoints import EndpointAddress, EndpointSubset, SubsetPort

Place = tuple[str, str]
"""The address and the uid of its target: two pods may share an address."""
NO_PORT = SubsetPort(port=-1)
"""Stands for the ports of a subset without any, which is kept."""


def place_of(address: EndpointAddress) -> Place:
    """Return what an address is known by."""
    return address.ip, address.target_ref.uid if address.target_ref is not None else ""


def order_of(address: EndpointAddress) -> tuple[str, bool, str]:
    """Return the place of an address in the order of a subset (`LessEndpointAddress`)."""
    target = address.target_ref
    return address.ip, target is not None, target.uid if target is not None else ""


def order_of_port(port: SubsetPort) -> tuple[str, int, str, str]:
    """Return the place of a port; upstream orders by a hash of it."""
    return port.name, port.port, port.protocol, port.app_protocol or ""


class Subsets:
    """Addresses by the ports that they offer.

    An address that is ready in one place and not in another one is not ready at their common ports.
    """

    def __init__(self) -> None:
        self._addresses: dict[Place, EndpointAddress] = {}
        self._by_port: dict[SubsetPort, dict[Place, bool]] = {}

    def add(self, address: EndpointAddress, port: SubsetPort = NO_PORT, *, ready: bool) -> None:
        """Add an address at a port, or without any."""
        place = place_of(address)
        self._addresses.setdefault(place, address)
        states = self._by_port.setdefault(port, {})
        states[place] = ready and states.get(place, True)

    def pack(self) -> tuple[EndpointSubset, ...]:
        """Return the fewest subsets: one for each set of addresses, with all ports that these offer, in order."""
        ports_of: dict[frozenset[tuple[Place, bool]], list[SubsetPort]] = {}
        for port, states in self._by_port.items():
            ports_of.setdefault(frozenset(states.items()), []).append(port)
        found = [self._subset(dict(states), ports) for states, ports in ports_of.items()]
        return tuple(sorted(found, key=lambda subset: tuple(map(order_of_port, subset.ports or ()))))

    def _subset(self, states: dict[Place, bool], ports: list[SubsetPort]) -> EndpointSubset:
        def those(state: bool) -> tuple[EndpointAddress, ...] | None:
            found = [self._addresses[place] for place, ready in states.items() if ready is state]
            return tuple(sorted(found, key=order_of)) or None

        kept = sorted((port for port in ports if port.port > 0), key=order_of_port)
        return EndpointSubset(those(True), those(False), tuple(kept) or None)


def repack(subsets: Iterable[EndpointSubset]) -> tuple[EndpointSubset, ...]:
    """Return subsets in canonical form."""
    found = Subsets()
    for subset in subsets:
        for port in subset.ports or (NO_PORT,):
            for address in subset.addresses or ():
                found.add(address, port, ready=True)
            for address in subset.not_ready_addresses or ():
                found.add(address, port, ready=False)
    return found.pack()
