"""Readers of tokens: garbage is refused, and nothing else is raised."""

from __future__ import annotations

import base64
import contextlib

import orjson
from hypothesis import given
from hypothesis import strategies as st

from hydrofoil.authentication import compact
from hydrofoil.authentication.accounts import claims as read
from hydrofoil.authentication.accounts.keys import Keys
from hydrofoil.authentication.bearer import bearer, subprotocols
from hydrofoil.authentication.csv import CsvError, records
from hydrofoil.authentication.login import Rejected
from tests.unit.authentication.requests import request

KEYS = Keys(None, ())
KEYS.load()
GOOD = KEYS.sign(b'{"iss":"x","aud":["a"]}')
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))
NAMES = st.sampled_from(("alg", "kid", "crit", "b64", "jwk", "x5c", "aud", "exp", "nbf", "iat", "iss", "sub", "zip"))
MEMBERS = st.dictionaries(NAMES | st.text(max_size=5), JSON | st.sampled_from(("none", "HS256", "ES256", "RS256")))


def part(value: object) -> str:
    try:
        data = orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError):
        data = repr(value).encode(errors="replace")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def looked_at(token: str) -> None:
    """Read a token as the authenticator of service accounts does."""
    found = compact.read(token)
    if found is None:
        return
    assert isinstance(found.issuer, str)
    with contextlib.suppress(Rejected):
        KEYS.verify(token, found.header)
        assert token == GOOD
    with contextlib.suppress(Rejected):
        read.audiences(found.claims)
        read.check_times(found.claims, 1e9)
        for name in ("iss", "sub", "kubernetes.io"):
            read.text(read.members(found.claims, name) or {}, "name")


@given(st.text() | st.lists(st.text("ey.AQIaw-_0=", max_size=30), max_size=5).map(".".join))
def test_any_text(token: str) -> None:
    looked_at(token)


@given(MEMBERS, MEMBERS, st.binary(max_size=80))
def test_any_members(header: dict[str, object], claims: dict[str, object], signature: bytes) -> None:
    looked_at(f"{part(header)}.{part(claims)}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}")


@given(st.integers(0, len(GOOD) - 1), st.sampled_from("AZaz09-_.= \n"))
def test_one_changed_letter(at: int, letter: str) -> None:
    changed = GOOD[:at] + letter + GOOD[at + 1 :]
    # The last letter of a base64 group holds bits that do not count.
    head, claims, _ = GOOD.split(".")
    ends = {len(head) - 1, len(head) + 1 + len(claims) - 1, len(GOOD) - 1}
    found = compact.read(changed)
    if found is None or changed == GOOD or at in ends:
        return
    try:
        KEYS.verify(changed, found.header)
    except Rejected:
        return
    raise AssertionError(changed)


@given(st.text())
def test_any_header(value: str) -> None:
    warnings: list[str] = []
    assert " " not in bearer(value, warnings)
    with contextlib.suppress(Rejected):
        subprotocols(request(("Sec-WebSocket-Protocol", value)).headers)


@given(st.text() | st.text('",\n\ra', max_size=20))
def test_any_file_of_tokens(text: str) -> None:
    with contextlib.suppress(CsvError):
        for record in records(text):
            assert record


def test_a_deep_or_long_token_is_cheap() -> None:
    """Depth and length are bounded before anything is verified."""
    for inner in ("[" * 100_000, '{"a":' * 50_000, "9" * 100_000):
        token = f"{part({'alg': 'ES256'})}.{base64.urlsafe_b64encode(inner.encode()).rstrip(b'=').decode()}.AA"
        assert compact.read(token) is None
    assert compact.read("." * 1_000_000) is None
    assert compact.read(f"{GOOD}{'A' * compact.LONGEST}") is None
