"""Tokens and claims of any form are refused or read, never a fault."""

from __future__ import annotations

import base64
from typing import Any

import orjson
from hypothesis import example, given
from hypothesis import strategies as st

from hydrofoil.authentication import compact
from hydrofoil.authentication.jwt.claims import Mapper
from hydrofoil.authentication.jwt.configuration import (
    Authenticator,
    ClaimRule,
    Configuration,
    ExtraMapping,
    Issuer,
    Mapping,
    UserRule,
    parse,
)
from hydrofoil.authentication.jwt.flags import ALGORITHMS
from hydrofoil.authentication.jwt.validation import validate
from hydrofoil.authentication.jwt.verify import check, fitting, keys, signed
from hydrofoil.authentication.login import Rejected
from hydrofoil.request import User
from tests.issuers import EC, RSA, public
from tests.issuers import signed as made

NOW = 1_000_000.0
URL = "https://issuer.example.com"
KEYS = keys({"keys": [public(RSA), public(EC)]})
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
names = st.sampled_from(
    ["iss", "aud", "exp", "nbf", "iat", "sub", "jti", "email", "email_verified", "roles", "nonce", "at_hash"]
)
claims = st.dictionaries(names | texts, values | st.just(URL) | st.just("a") | st.just(NOW + 9), max_size=8)
headers = st.dictionaries(
    st.sampled_from(["alg", "kid", "typ", "crit", "jwk", "b64", "zip"]),
    values | st.sampled_from([*ALGORITHMS, "none", "HS256", "rsa", "ec"]),
    max_size=5,
)


def part(value: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


def accepted(token: str) -> bool:
    parsed = compact.read(token)
    if parsed is None:
        return False
    try:
        check(parsed, URL, ("a",), ALGORITHMS, NOW)
        return signed(token, fitting(KEYS, parsed), str(parsed.header.get("alg")))
    except Rejected:
        return False


@given(st.text(max_size=60) | st.from_regex(r"[A-Za-z0-9_.=-]{0,60}", fullmatch=True))
def test_no_text_is_a_token(text: str) -> None:
    assert not accepted(text)


@given(headers, claims, st.binary(max_size=300))
def test_no_invented_token_is_accepted(header: dict[str, Any], body: dict[str, Any], signature: bytes) -> None:
    sealed = base64.urlsafe_b64encode(signature).rstrip(b"=").decode()
    assert not accepted(f"{part(header)}.{part(body)}.{sealed}")
    good = {"iss": URL, "aud": "a", "exp": NOW + 9}
    assert not accepted(f"{part(header)}.{part(body | good)}.{sealed}")


@given(claims)
def test_signed_tokens_with_any_claims_are_read_or_refused(body: dict[str, Any]) -> None:
    accepted(made(body, EC, "ES256"))
    accepted(made(body | {"iss": URL, "aud": "a", "exp": NOW + 9}, EC, "ES256"))


OF = (
    Authenticator(
        Issuer(URL, audiences=("a",)),
        (ClaimRule("hd", "x"),),
        Mapping("email", "p:"),
        Mapping("roles", ""),
        Mapping("sub"),
    ),
    Authenticator(
        Issuer(URL + "/b", audiences=("a",)),
        (ClaimRule(expression="claims.exp - claims.iat <= 86400"),),
        Mapping(expression="claims.email_verified ? claims.email : claims.sub"),
        Mapping(expression="dyn(claims.roles).map(r, 'x' + r)"),
        Mapping(expression="string(claims.sub)"),
        (ExtraMapping("example.com/a", "claims[?'a'].orValue('')"),),
        (UserRule("user.groups.all(g, g != 'banned')"),),
    ),
)
MAPPERS = [Mapper(of, found) for of, found in zip(OF, validate(Configuration(OF), ()), strict=True)]


@given(claims)
def test_any_claims_give_a_user_or_a_refusal(body: dict[str, Any]) -> None:
    for mapper in MAPPERS:
        try:
            user = mapper.user(body)
        except Rejected:
            continue
        assert isinstance(user, User) and isinstance(user.name, str) and isinstance(user.uid, str)
        assert all(isinstance(group, str) for group in user.groups)
        assert all(isinstance(text, str) for found in user.extra.values() for text in found)


@given(values)
def test_any_key_set_is_read_or_refused(document: Any) -> None:
    for found in (document, {"keys": document}, {"keys": [document]}, {"keys": [{"kty": "EC", "crv": document}]}):
        try:
            keys(found)
        except ValueError:
            continue


@given(st.binary(max_size=80) | values.map(orjson.dumps))
@example(b'{"\\n"}')
@example(b'{"\n"}')
@example(b'{"\\u2028\\r": 1}')
def test_any_configuration_is_read_or_refused_in_one_line(data: bytes) -> None:
    head = b'{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": '
    for text in (data, head + data + b"}", head + b"[" + data + b"]}", head + b'[{"issuer": ' + data + b"}]}"):
        try:
            validate(parse(text), ())
        except ValueError as e:
            assert str(e) and "\n" not in str(e)
