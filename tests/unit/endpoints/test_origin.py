"""Requests of web pages to a loopback address."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from hydrofoil.endpoints.framing import is_host
from hydrofoil.endpoints.origin import foreign, is_local


@pytest.mark.parametrize("host", ["localhost", "LocalHost:80", "127.0.0.1:1", "[::1]", "[::1]:80", "127.0.0.5:80"])
def test_names_of_this_machine(host: str) -> None:
    assert is_local(host, "127.0.0.5")


@pytest.mark.parametrize(
    "host", ["localhost.", "a.localhost", "127.0.0.1.a", "127.0.0.2", "[::1]a", "[::2]", "[localhost", "a", ":80"]
)
def test_other_names(host: str) -> None:
    assert not is_local(host, "127.0.0.5")


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({}, False),
        ({"Host": ""}, False),
        ({"Host": "a"}, True),
        ({"Origin": "http://localhost:3000"}, False),
        ({"Origin": "http://[::1]:3000"}, False),
        ({"Origin": "null"}, True),
        ({"Origin": ""}, True),
        ({"Origin": "http://[::1"}, True),
        ({"Origin": "http://localhost@a"}, True),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": " CROSS-SITE"}, True),
    ],
)
def test_pages_of_other_sites(headers: dict[str, str], refused: bool) -> None:
    assert foreign(CIMultiDict(headers), "127.0.0.1") is refused


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({"Host": "host.docker.internal:8080"}, False),
        ({"Host": "HOST.docker.internal"}, False),
        ({"Host": "a.example.com"}, False),
        ({"Host": "example.com"}, True),
        ({"Host": "a.example.com.evil"}, True),
        ({"Host": "localhost", "Origin": "https://ui.example.com:3000"}, False),
        ({"Host": "localhost", "Origin": "https://ui.example.com", "Sec-Fetch-Site": "cross-site"}, False),
        ({"Host": "localhost", "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, True),
        ({"Host": "localhost", "Origin": "http://localhost:1", "Sec-Fetch-Site": "cross-site"}, True),
        ({"Host": "a.example.com", "Sec-Fetch-Site": "cross-site"}, True),
        ({"Host": "a.example.com", "Origin": "null"}, True),
    ],
)
def test_hosts_that_a_flag_accepts(headers: dict[str, str], refused: bool) -> None:
    accepted = ("host.docker.internal", "*.example.com")
    assert foreign(CIMultiDict(headers), "127.0.0.1", accepted) is refused
    assert foreign(CIMultiDict(headers), "127.0.0.1") or headers["Host"] == "localhost"


def test_several_origins_are_all_judged() -> None:
    headers = CIMultiDict([("Origin", "http://localhost"), ("Origin", "http://a")])
    assert foreign(headers, "127.0.0.1")


@pytest.mark.parametrize("host", ["x", "", "a.b-c:1", "a%20b"])
def test_hosts_with_allowed_characters(host: str) -> None:
    """`httpguts.ValidHostHeader`."""
    assert is_host(host)
