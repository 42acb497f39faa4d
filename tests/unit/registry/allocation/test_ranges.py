"""The ranges that services draw from."""

from __future__ import annotations

import pytest

from hydrofoil.clock import Chance
from hydrofoil.registry.allocation.ranges import Addresses, Ports, Refused


def test_a_network_gives_each_address_once() -> None:
    addresses = Addresses("10.0.0.0/29", Chance())
    assert {addresses.free() for _ in range(6)} == {f"10.0.0.{n}" for n in range(1, 7)}
    with pytest.raises(Refused, match="range is full"):
        addresses.free()
    addresses.release(["10.0.0.3"])
    assert addresses.free() == "10.0.0.3"


def test_an_address_is_claimed_once_but_by_dry_runs() -> None:
    addresses = Addresses("10.0.0.0/24", Chance())
    addresses.claim("10.0.0.9", dry_run=True)
    addresses.claim("10.0.0.9", dry_run=False)
    addresses.claim("10.0.0.9", dry_run=True)
    with pytest.raises(Refused, match="provided IP is already allocated"):
        addresses.claim("10.0.0.9", dry_run=False)


@pytest.mark.parametrize("address", ["10.0.0.0", "10.0.0.255", "10.0.1.1"])
def test_an_address_lies_within_the_network(address: str) -> None:
    with pytest.raises(Refused, match="not in the valid range"):
        Addresses("10.0.0.0/24", Chance()).claim(address, dry_run=True)


def test_an_address_is_one_however_it_is_written() -> None:
    addresses = Addresses("fd00::/112", Chance())
    addresses.claim("FD00:0::9", dry_run=False)
    with pytest.raises(Refused, match="already allocated"):
        addresses.claim("fd00::9", dry_run=False)
    addresses.release(["fd00::0009"])
    # IPv6 has no broadcast address.
    addresses.claim("fd00::ffff", dry_run=False)
    old = Addresses("10.0.0.0/24", Chance())
    old.claim("010.0.0.09", dry_run=False)
    with pytest.raises(Refused, match="already allocated"):
        old.claim("10.0.0.9", dry_run=False)


def test_ports_are_claimed_once_and_in_range() -> None:
    ports = Ports(1, 2, Chance())
    ports.claim(1, dry_run=False)
    assert ports.free() == 2
    for port, why in ((1, "already allocated"), (3, "The range of valid ports is 1-2")):
        with pytest.raises(Refused, match=why):
            ports.claim(port, dry_run=False)
    with pytest.raises(Refused, match="range is full"):
        ports.free()


def test_every_port_is_given_once_whatever_the_range() -> None:
    """Taking a port costs the same however many there are: a Service may ask for all of them."""
    ports = Ports(1, 60_000, Chance())
    ports.claim(7, dry_run=False)
    taken = {ports.free() for _ in range(59_999)}
    assert taken == set(range(1, 60_001)) - {7}
    with pytest.raises(Refused):
        ports.free()
    ports.release([7, 9])
    assert {ports.free(), ports.free()} == {7, 9}


def test_what_a_service_holds_and_what_a_write_claims_count_apart() -> None:
    """An address is free when the service has gone and no write is about to give it to another one."""
    addresses, ports = Addresses("10.0.0.0/29", Chance()), Ports(1, 2, Chance())
    addresses.claim("10.0.0.1", dry_run=False)
    addresses.hold(["10.0.0.1", "None", "10.9.9.9"])
    addresses.release(["10.0.0.1"])
    with pytest.raises(Refused, match="already allocated"):
        addresses.claim("10.0.0.1", dry_run=False)
    addresses.release(["10.0.0.1", "10.9.9.9"])
    addresses.claim("10.0.0.1", dry_run=False)
    ports.claim(1, dry_run=False)
    ports.hold([1, 99])
    ports.release([1])
    assert ports.free() == 2
    ports.release([1, 99])
    assert ports.free() == 1
