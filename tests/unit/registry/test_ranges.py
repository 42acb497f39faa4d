"""The ranges that services draw from."""

from __future__ import annotations

import pytest

from hydrofoil.registry.strategies.ranges import Addresses, Ports, Refused


def test_a_network_gives_each_address_once() -> None:
    addresses = Addresses("10.0.0.0/29")
    assert {addresses.free() for _ in range(6)} == {f"10.0.0.{n}" for n in range(1, 7)}
    with pytest.raises(Refused, match="range is full"):
        addresses.free()
    addresses.release(["10.0.0.3"])
    assert addresses.free() == "10.0.0.3"


def test_an_address_is_claimed_once_but_by_dry_runs() -> None:
    addresses = Addresses("10.0.0.0/24")
    addresses.claim("10.0.0.9", dry_run=True)
    addresses.claim("10.0.0.9", dry_run=False)
    addresses.claim("10.0.0.9", dry_run=True)
    with pytest.raises(Refused, match="provided IP is already allocated"):
        addresses.claim("10.0.0.9", dry_run=False)


@pytest.mark.parametrize("address", ["10.0.0.0", "10.0.0.255", "10.0.1.1"])
def test_an_address_lies_within_the_network(address: str) -> None:
    with pytest.raises(Refused, match="not in the valid range"):
        Addresses("10.0.0.0/24").claim(address, dry_run=True)


def test_ports_are_claimed_once_and_in_range() -> None:
    ports = Ports(1, 2)
    ports.claim(1, dry_run=False)
    assert ports.free() == 2
    for port, why in ((1, "already allocated"), (3, "The range of valid ports is 1-2")):
        with pytest.raises(Refused, match=why):
            ports.claim(port, dry_run=False)
    with pytest.raises(Refused, match="range is full"):
        ports.free()
