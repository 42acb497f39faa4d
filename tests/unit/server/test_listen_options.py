"""Flags of TLS."""

from __future__ import annotations

import pytest

from hydrofoil.options import Refused
from hydrofoil.server.options import NamedPair, named_pair, suites, tls_version


def test_pairs_with_and_without_names() -> None:
    """Component-base `NamedCertKey`."""
    assert named_pair("a.crt,a.key") == NamedPair("a.crt", "a.key", ())
    assert named_pair(" a.crt,a.key : x.y , *.z ") == NamedPair("a.crt", "a.key", ("x.y", "*.z"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a.crt", "expected comma separated certificate and key file paths"),
        ("a,b,c:x", "expected comma separated certificate and key file paths"),
        ("a,b:", "empty names list is not allowed"),
    ],
)
def test_pairs_that_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        named_pair(text)


def test_suites_have_gos_names() -> None:
    assert suites("TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_AES_128_CBC_SHA")
    with pytest.raises(Refused, match=r"^Cipher suite TLS_X not supported or doesn't exist$"):
        suites("TLS_AES_128_GCM_SHA256,TLS_X")


def test_versions_below_1_2_are_refused() -> None:
    assert tls_version("VersionTLS13") == "VersionTLS13"
    with pytest.raises(Refused, match=r"VersionTLS10 is not secure"):
        tls_version("VersionTLS10")
    with pytest.raises(Refused, match=r'^unknown tls version "1.2"$'):
        tls_version("1.2")
