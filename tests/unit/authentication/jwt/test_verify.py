"""Tokens that must not be accepted, each beside one like it that is."""

from __future__ import annotations

import base64
import hmac
from typing import Any

import orjson
import pytest
from joserfc.jwk import ECKey, OctKey

from hydrofoil.authentication import compact
from hydrofoil.authentication.jwt.flags import ALGORITHMS
from hydrofoil.authentication.jwt.verify import Key, check, fitting, issuer, key_id, keys, signed
from hydrofoil.authentication.login import Rejected
from tests import issuers
from tests.issuers import EC, RSA, STRAY, public

NOW = 1_000_000.0
ISSUER = "https://issuer.example.com"
CLAIMS = {"iss": ISSUER, "aud": "cluster", "sub": "jane", "exp": NOW + 600, "iat": NOW - 10}
KEYS = keys({"keys": [public(RSA), public(EC)]})


def accepted(token: str, known: list[Key] = KEYS, algorithms: tuple[str, ...] = ALGORITHMS) -> bool:
    """Report whether a token passes all checks."""
    parsed = compact.read(token)
    if parsed is None:
        return False
    try:
        check(parsed, ISSUER, ("cluster", "spare"), algorithms, NOW)
        return signed(token, fitting(known, parsed), str(parsed.header.get("alg")))
    except Rejected:
        return False


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


@pytest.mark.parametrize("algorithm", ["RS256", "RS384", "RS512", "PS256"])
def test_good_tokens(algorithm: str) -> None:
    assert accepted(issuers.signed(CLAIMS, RSA, algorithm))
    assert accepted(issuers.signed(CLAIMS, RSA, algorithm, {"kid": None}))
    assert not accepted(issuers.signed(CLAIMS, STRAY, algorithm))


def test_elliptic_keys() -> None:
    assert accepted(issuers.signed(CLAIMS, EC, "ES256"))
    assert not accepted(issuers.signed(CLAIMS, ECKey.generate_key("P-256", {"kid": "ec"}), "ES256"))
    assert not accepted(issuers.signed(CLAIMS, EC, "ES256"), algorithms=("RS256",))


@pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE", "", None, 1, ["RS256"]])
def test_the_algorithm_none_signs_nothing(name: object) -> None:
    payload = encoded(CLAIMS)
    for signature in ("", issuers.signed(CLAIMS).split(".")[2]):
        assert not accepted(f"{encoded({'alg': name, 'kid': 'rsa'})}.{payload}.{signature}")
    assert accepted(issuers.signed(CLAIMS))


def test_a_public_key_is_no_shared_secret() -> None:
    """HS256 with the bytes of the public key, which everyone knows (RFC 8725, section 2.1)."""
    part = f"{encoded({'alg': 'HS256', 'kid': 'rsa'})}.{encoded(CLAIMS)}"
    secrets = [RSA.as_pem(private=False), RSA.as_der(private=False), orjson.dumps(public(RSA))]
    macs = [hmac.digest(secret, part.encode(), "sha256") for secret in secrets]
    forged = [f"{part}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}" for mac in macs]
    for token in forged:
        assert not accepted(token)
        # Not even if a configuration named the algorithm.
        assert not accepted(token, algorithms=("HS256", "RS256"))


def test_a_symmetric_key_in_a_key_set_is_left_out() -> None:
    secret: dict[str, Any] = {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA", "kid": "s"}
    known = keys({"keys": [secret, public(RSA)]})
    assert [key.id for key in known] == ["rsa"]
    assert not accepted(issuers.signed(CLAIMS, OctKey.import_key(secret), "HS256", {"kid": "s"}), known)


@pytest.mark.parametrize("kid", ["other", "ec", "../../rsa", "rsa\0", "RSA", "' OR 1=1 --", ["rsa"], {"a": "rsa"}, 7])
def test_the_id_of_a_key_names_one_key_exactly(kid: object) -> None:
    assert not accepted(issuers.signed(CLAIMS, RSA, "RS256", {"kid": kid} if isinstance(kid, str) else None)[:-8])
    head, payload, signature = issuers.signed(CLAIMS).split(".")
    assert not accepted(f"{encoded({'alg': 'RS256', 'kid': kid})}.{payload}.{signature}")
    assert accepted(f"{head}.{payload}.{signature}")


@pytest.mark.parametrize(
    "header",
    [
        {"jwk": public(STRAY)},
        {"jku": "https://attacker.example.com/keys"},
        {"x5u": "https://attacker.example.com/cert"},
        {"jwk": public(STRAY), "kid": None},
    ],
)
def test_a_token_does_not_bring_its_own_key(header: dict[str, Any]) -> None:
    assert not accepted(issuers.signed(CLAIMS, STRAY, "RS256", header))
    assert accepted(issuers.signed(CLAIMS, RSA, "RS256", header))


def test_an_unknown_critical_header_is_refused() -> None:
    """RFC 7515, section 4.1.11."""
    head = {"alg": "RS256", "kid": "rsa", "crit": ["x"], "x": 1}
    _, payload, signature = issuers.signed(CLAIMS).split(".")
    assert not accepted(f"{encoded(head)}.{payload}.{signature}")


def test_changed_parts_are_refused() -> None:
    head, payload, signature = issuers.signed(CLAIMS).split(".")
    other = encoded(CLAIMS | {"sub": "admin"})
    assert not accepted(f"{head}.{other}.{signature}")
    assert not accepted(f"{head}.{payload}.{signature[:-4]}")
    assert not accepted(f"{head}.{payload}.")
    assert not accepted(f"{head}.{payload}")
    assert not accepted(f"{head}.{payload}.{signature}.")
    assert not accepted(f"{head}.{payload}.{signature}=")
    assert not accepted(encoded({"payload": payload, "protected": head, "signature": signature}))
    assert accepted(f"{head}.{payload}.{signature}")


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        ({"exp": NOW - 2}, False),
        ({"exp": NOW + 2}, True),
        ({"exp": None}, False),
        ({"exp": "soon"}, False),
        ({"exp": True}, False),
        ({"nbf": NOW + 120}, False),
        ({"nbf": NOW + 30}, True),
        ({"nbf": "x"}, False),
        ({"iat": []}, False),
        ({"aud": "other"}, False),
        ({"aud": ""}, False),
        ({"aud": None}, False),
        ({"aud": []}, False),
        ({"aud": ["other", "spare"]}, True),
        ({"aud": ["cluster", 7]}, False),
        ({"aud": {"cluster": 1}}, False),
        ({"iss": ISSUER + "/"}, False),
        ({"iss": ISSUER.upper()}, False),
        ({"iss": "https://other.example.com"}, False),
        ({"iss": [ISSUER]}, False),
        ({"sub": 7}, False),
        ({"nonce": 7}, False),
        ({"extra": {"a": 1}}, True),
    ],
)
def test_times_audiences_and_issuers(changes: dict[str, Any], good: bool) -> None:
    assert accepted(issuers.signed(CLAIMS | changes)) is good


@pytest.mark.parametrize("missing", ["iss", "aud", "exp"])
def test_required_claims(missing: str) -> None:
    assert not accepted(issuers.signed({name: value for name, value in CLAIMS.items() if name != missing}))


def test_a_key_of_another_kind_or_curve_does_not_fit() -> None:
    wide = ECKey.generate_key("P-384", {"kid": "wide"})
    known = keys({"keys": [public(wide), public(RSA)]})
    assert accepted(issuers.signed(CLAIMS, wide, "ES384"), known)
    _, payload, signature = issuers.signed(CLAIMS, wide, "ES384").split(".")
    assert not accepted(f"{encoded({'alg': 'ES256', 'kid': 'wide'})}.{payload}.{signature}", known)
    assert not accepted(f"{encoded({'alg': 'RS256', 'kid': 'wide'})}.{payload}.{signature}", known)
    assert not accepted(f"{encoded({'alg': 'ES256', 'kid': 'rsa'})}.{payload}.{signature}", known)


def test_key_sets_may_have_anything() -> None:
    odd: list[Any] = [
        None,
        7,
        {},
        {"kty": "RSA"},
        {"kty": "RSA", "n": "!", "e": "AQAB"},
        {"kty": "EC", "crv": "x"},
        {"kty": []},
    ]
    assert [key.id for key in keys({"keys": [*odd, public(EC), public(RSA) | {"use": "enc"}]})] == ["ec"]
    assert keys({"keys": []}) == []
    documents: list[Any] = [None, [], {}, {"keys": {}}, "keys"]
    for document in documents:
        with pytest.raises(ValueError, match="no keys"):
            keys(document)


def test_a_private_key_in_a_key_set_still_verifies_only() -> None:
    known = keys({"keys": [dict(RSA.as_dict(private=True))]})
    assert accepted(issuers.signed(CLAIMS), known)
    assert not known[0].key.is_private


def test_googles_old_form() -> None:
    parsed = compact.read(issuers.signed({"iss": "accounts.google.com"}))
    assert parsed is not None and issuer(parsed) == "https://accounts.google.com"
    assert key_id(parsed) == "rsa"
