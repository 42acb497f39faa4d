"""Ranges that services draw from: addresses and node ports.

Uses are counted: by the service that holds an entry, and by the write that is about to assign it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

from hydrofoil.clock import Chance
from hydrofoil.registry.allocation.networks import Network

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
    """The cluster IPs of one family (`pkg/registry/core/service/ipallocator`).

    `present` reports whether an IPAddress object has the name: it is in use, also if a user made the object.
    """

    def __init__(self, network: str, chance: Chance, present: Callable[[str], bool] = lambda _: False) -> None:
        self._chance = chance
        self._own = Network(network)
        self._present = present
        self.network = self._own.network
        self.family = f"IPv{self.network.version}"
        self.further: Callable[[], Sequence[Network]] = lambda: ()
        """Return the networks of objects; the own one is among them, or is not needed there."""
        self._taken: Counter[int] = Counter()

    def guess(self) -> str:
        """Return the address that stands for a free one in a dry run."""
        return str(self.network.network_address)

    def free(self) -> str:
        """Allocate a free address. Raise Full if none is left."""
        tried = {self._own.network}
        for network in (self._own, *self.further()):
            if network is not self._own and network.network in tried:
                continue
            tried.add(network.network)
            for first, last in network.bands():
                for number in self._candidates(first, last):
                    if number not in self._taken and not self._present(str(network.kind(number))):
                        self._taken[number] = 1
                        return str(network.kind(number))
        raise Full("range is full")

    def _candidates(self, first: int, last: int) -> Iterator[int]:
        """Yield some addresses at random, then each: where most are in use, a free one is found soon, too."""
        for _ in range(64):
            yield first + self._chance.below(last - first + 1)
        yield from range(first, last + 1)

    def claim(self, text: str, *, dry_run: bool) -> None:
        """Allocate a given address; a dry run only checks that it is in the range. Raise Refused."""
        address = canonical(text)
        same, number = address.version == self.network.version, int(address)
        if dry_run:
            if not (same and number in self._own):
                valid = f"The range of valid IPs is {self.network}"
                raise Refused(f"the provided IP ({address}) is not in the valid range. {valid}")
            return
        if not (same and (number in self._own or any(number in network for network in self.further()))):
            # No range of the cluster contains it.
            raise Refused("the provided network does not match the current range")
        if number in self._taken or self._present(str(address)):
            raise Refused(TAKEN.format("IP"))
        self._taken[number] = 1

    def hold(self, addresses: Iterable[str]) -> None:
        """Count the addresses of a service, in the range or not."""
        for text in addresses:
            if text != "None":
                self._taken[int(canonical(text))] += 1

    def release(self, addresses: Iterable[str]) -> None:
        """Release addresses; one is free when nothing uses it any more."""
        for text in addresses:
            if text != "None":
                number = int(canonical(text))
                if self._taken[number] < 2:
                    del self._taken[number]
                else:
                    self._taken[number] -= 1


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

    @staticmethod
    def guess(taken: Sequence[int]) -> int:
        """Return the port that stands for a free one in a dry run that chose others already (`operation.go`)."""
        return max(taken, default=32768) + 1

    def _take(self, port: int) -> None:
        self._taken[port] += 1
        at = self._places.pop(port, None)
        if at is None:
            return
        last = self._free.pop()
        if last != port:
            self._free[at] = last
            self._places[last] = at

    def claim(self, port: int, *, dry_run: bool, among: Sequence[int] = ()) -> None:
        """Allocate a given port; a dry run, which has chosen others already, only checks its use. Raise Refused."""
        if not dry_run and not self.low <= port <= self.high:
            raise Refused(
                f"provided port is not in the valid range. The range of valid ports is {self.low}-{self.high}"
            )
        if port in self._taken or (dry_run and port in among):
            raise Refused(TAKEN.format("port"))
        if not dry_run:
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
