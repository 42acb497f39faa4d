"""The addresses that a request came by."""

from __future__ import annotations

import pytest

from hydrofoil.audit.service import MOST_ADDRESSES, source_addresses


@pytest.mark.parametrize(
    ("forwarded", "real", "expected"),
    [
        ("", "", ["127.0.0.1"]),
        ("192.0.2.1, 192.0.2.2", "192.0.2.3", ["192.0.2.1", "192.0.2.2", "192.0.2.3", "127.0.0.1"]),
        ("192.0.2.1", "192.0.2.1", ["192.0.2.1", "127.0.0.1"]),
        ("nonsense, 010.0.0.1,2001:DB8::1", "x", ["10.0.0.1", "2001:db8::1", "127.0.0.1"]),
        ("127.0.0.1", "", ["127.0.0.1"]),
        ("::ffff:192.0.2.1", "", ["192.0.2.1", "127.0.0.1"]),
        ('192.0.2.1","x":"', "", ["127.0.0.1"]),
    ],
)
def test_proxies_precede_the_connection(forwarded: str, real: str, expected: list[str]) -> None:
    assert list(source_addresses(forwarded, real, "127.0.0.1")) == expected


def test_their_number_is_bounded() -> None:
    forwarded = ",".join(f"10.0.{n // 256}.{n % 256}" for n in range(5000))
    assert len(source_addresses(forwarded, "", "127.0.0.1")) == MOST_ADDRESSES + 1


def test_a_socket_without_an_address_has_none() -> None:
    assert source_addresses("", "", "") == ()
