"""Ranges that services draw from: addresses and node ports.

Uses are counted: by the service that holds an entry, and by the write that is about to assign it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from hydrofoil.clock import Chance

TAKEN = "provided {} is already allocated"


class Refused(Exception):
    """An entry that cannot be allocated, with upstream's message."""


class Full(Refused):
    """A range without a free entry."""


def canonical(text: str) -> IPv4Address | IPv6Address:
    """Return an address as Go's old parser read it: leading zeros do not count."""
    if ":" not in text:
        text = ".".join(str(int(part)) for part in text.split("."))
    return ip_address(text)


class Addresses:
    """The cluster IPs of one network (`pkg/registry/core/service/ipallocator`)."""

    def __init__(self, network: str, chance: Chance) -> None:
        self._chance = chance
        self.network = ip_network(network)
        self.family = f"IPv{self.network.version}"
        self._first = int(self.network.network_address) + 1
        # There is no broadcast address in IPv6.
        self._last = int(self.network.broadcast_address) - (self.network.version == 4)
        self._taken: Counter[IPv4Address | IPv6Address] = Counter()

    def free(self) -> str:
        """Allocate a free address. Raise Refused if none is left."""
        kind = type(self.network.network_address)
        for _ in range(64):
            ip = kind(self._first + self._chance.below(self._last - self._first + 1))
            if ip not in self._taken:
                self._taken[ip] = 1
                return str(ip)
        # In a range with this share in use, one of the first free ones is found soon.
        for number in range(self._first, self._last + 1):
            ip = kind(number)
            if ip not in self._taken:
                self._taken[ip] = 1
                return str(ip)
        raise Full("range is full")

    def claim(self, text: str, *, dry_run: bool) -> None:
        """Allocate a given address; a dry run only checks that it is in the range. Raise Refused."""
        address = canonical(text)
        within = address.version == self.network.version and self._first <= int(address) <= self._last
        if dry_run:
            if not within:
                valid = f"The range of valid IPs is {self.network}"
                raise Refused(f"the provided IP ({address}) is not in the valid range. {valid}")
            return
        if not within:
            # No range of the cluster contains it.
            raise Refused("the provided network does not match the current range")
        if address in self._taken:
            raise Refused(TAKEN.format("IP"))
        self._taken[address] = 1

    def hold(self, addresses: Iterable[str]) -> None:
        """Count the addresses of a service, in the range or not."""
        for text in addresses:
            if text != "None":
                self._taken[canonical(text)] += 1

    def release(self, addresses: Iterable[str]) -> None:
        """Release addresses; one is free when nothing uses it any more."""
        for text in addresses:
            if text != "None":
                address = canonical(text)
                if self._taken[address] < 2:
                    del self._taken[address]
                else:
                    self._taken[address] -= 1


class Ports:
    """Node ports (`pkg/registry/core/service/portallocator`)."""

    def __init__(self, low: int, high: int, chance: Chance) -> None:
        self._chance = chance
        self.low, self.high = low, high
        self._taken: Counter[int] = Counter()
        self._free = list(range(low, high + 1))
        """In no order: an entry is removed by moving the last one to its place."""
        self._places = {port: at for at, port in enumerate(self._free)}

    def free(self) -> int:
        """Allocate a free port. Raise Refused if none is left."""
        if not self._free:
            raise Refused("range is full")
        port = self._free[self._chance.below(len(self._free))]
        self._take(port)
        return port

    def _take(self, port: int) -> None:
        self._taken[port] += 1
        at = self._places.pop(port, None)
        if at is None:
            return
        last = self._free.pop()
        if last != port:
            self._free[at] = last
            self._places[last] = at

    def claim(self, port: int, *, dry_run: bool) -> None:
        """Allocate a given port; a dry run does not check the range. Raise Refused."""
        if not dry_run and not self.low <= port <= self.high:
            raise Refused(
                f"provided port is not in the valid range. The range of valid ports is {self.low}-{self.high}"
            )
        if port in self._taken:
            raise Refused(TAKEN.format("port"))
        self._take(port)

    def hold(self, ports: Iterable[int]) -> None:
        """Count the ports of a service, in the range or not."""
        for port in ports:
            self._take(port)

    def release(self, ports: Iterable[int]) -> None:
        """Release ports; one is free when nothing uses it any more."""
        for port in ports:
            if port not in self._taken:
                continue
            self._taken[port] -= 1
            if not self._taken[port]:
                del self._taken[port]
                if self.low <= port <= self.high:
                    self._places[port] = len(self._free)
                    self._free.append(port)
