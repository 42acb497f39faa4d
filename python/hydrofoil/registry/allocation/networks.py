"""The networks that cluster IPs are from: those of a flag, and those of ServiceCIDR objects."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_network

import orjson

from hydrofoil.engine import Stored

STATIC_LEAST, STATIC_MOST, STATIC_SHARE = 16, 256, 16
"""The addresses at the beginning of a network that are given without a request only when all others are in use: at
least, at most, and as a part of the network (`calculateRangeOffset`)."""


class Network:
    """One network; its addresses are numbers."""

    __slots__ = ("_dynamic", "first", "kind", "last", "network")

    def __init__(self, text: str) -> None:
        self.network: IPv4Network | IPv6Network = ip_network(text, strict=False)
        self.kind = type(self.network.network_address)
        self.first = int(self.network.network_address) + 1
        # There is no broadcast address in IPv6.
        self.last = int(self.network.broadcast_address) - (self.network.version == 4)
        size = self.network.num_addresses
        static = 0 if size <= STATIC_LEAST else min(max(size // STATIC_SHARE, STATIC_LEAST), STATIC_MOST)
        self._dynamic = self.first + static

    def __contains__(self, number: int) -> bool:
        return self.first <= number <= self.last

    def bands(self) -> Iterable[tuple[int, int]]:
        """Return the first and last address of each part that addresses are drawn from, in order."""
        if self._dynamic <= self.last:
            yield self._dynamic, self.last
        if self.first < self._dynamic:
            yield self.first, min(self._dynamic - 1, self.last)


class ServiceNetworks:
    """The networks of the present ServiceCIDR objects that are ready and not being deleted."""

    def __init__(self) -> None:
        self._by_name: dict[str, list[Network]] = {}
        self._families: dict[str, list[Network]] = {}

    def of(self, family: str) -> list[Network]:
        """Return those of an IP family."""
        return self._families.get(family, [])

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present objects."""
        self._by_name.clear()
        for stored in objects:
            self._set(stored)
        self._group()

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        if new is not None:
            self._set(new)
        elif old is not None:
            self._by_name.pop(old.name, None)
        self._group()

    async def settle(self) -> None:
        """Return at once: nothing is pending."""

    def _set(self, stored: Stored) -> None:
        body = orjson.loads(stored.json)
        conditions = (body.get("status") or {}).get("conditions") or ()
        # Without a condition, no controller looks after them, and they count.
        ready = all(c["status"] == "True" for c in conditions if c["type"] == "Ready")
        usable = ready and "deletionTimestamp" not in body["metadata"]
        cidrs = (body.get("spec") or {}).get("cidrs") or ()
        self._by_name[stored.name] = [Network(cidr) for cidr in cidrs] if usable else []

    def _group(self) -> None:
        self._families = {}
        for name in sorted(self._by_name):
            for network in self._by_name[name]:
                self._families.setdefault(f"IPv{network.network.version}", []).append(network)
