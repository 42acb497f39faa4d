"""Ranges that services draw from: addresses and node ports."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Iterable

TAKEN = "provided {} is already allocated"


class Refused(Exception):
    """What cannot be had, in upstream's words."""


class Addresses:
    """The cluster IPs of one network (`pkg/registry/core/service/ipallocator`)."""

    def __init__(self, network: str) -> None:
        self.network = ipaddress.ip_network(network)
        self.family = f"IPv{self.network.version}"
        self._taken: set[str] = set()

    def free(self) -> str:
        """Takes an address that is free. Raises Refused when there is none."""
        base, size = int(self.network.network_address), self.network.num_addresses
        for _ in range(64):
            ip = str(ipaddress.ip_address(base + random.randrange(1, size - 1)))
            if ip not in self._taken:
                self._taken.add(ip)
                return ip
        for offset in range(1, size - 1):
            ip = str(ipaddress.ip_address(base + offset))
            if ip not in self._taken:
                self._taken.add(ip)
                return ip
        raise Refused("range is full")

    def claim(self, text: str, *, dry_run: bool) -> None:
        """Takes one address; a dry run only looks whether it lies in the range. Raises Refused."""
        address = ipaddress.ip_address(text)
        ends = (self.network.network_address, self.network.broadcast_address)
        if address not in self.network or address in ends:
            text = f"the provided IP ({text}) is not in the valid range. The range of valid IPs is {self.network}"
            raise Refused(text)
        if dry_run:
            return
        if text in self._taken:
            raise Refused(TAKEN.format("IP"))
        self._taken.add(text)

    def release(self, addresses: Iterable[str]) -> None:
        """Gives addresses back."""
        self._taken.difference_update(addresses)


class Ports:
    """Node ports (`pkg/registry/core/service/portallocator`)."""

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self._taken: set[int] = set()

    def free(self) -> int:
        """Takes a port that is free. Raises Refused when there is none."""
        free = [p for p in range(self.low, self.high + 1) if p not in self._taken]
        if not free:
            raise Refused("range is full")
        port = random.choice(free)
        self._taken.add(port)
        return port

    def claim(self, port: int, *, dry_run: bool) -> None:
        """Takes one port; a dry run does not look at the range. Raises Refused."""
        if not dry_run and not self.low <= port <= self.high:
            raise Refused(
                f"provided port is not in the valid range. The range of valid ports is {self.low}-{self.high}"
            )
        if port in self._taken:
            raise Refused(TAKEN.format("port"))
        self._taken.add(port)

    def release(self, ports: Iterable[int]) -> None:
        """Gives ports back."""
        self._taken.difference_update(ports)
