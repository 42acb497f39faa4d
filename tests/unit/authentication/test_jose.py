"""Headers that a verifier must refuse, each with a good signature: of accounts' tokens and of issuers' (RFC 7515)."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from joserfc.jwk import OctKey, RSAKey

from hydrofoil.authentication.accounts.keys import Keys, key_of
from hydrofoil.authentication.accounts.tokens import Counts, Signed
from hydrofoil.authentication.compact import read
from hydrofoil.authentication.jwt.verifier import Verifier
from hydrofoil.authentication.jwt.verify import Key
from hydrofoil.authentication.login import Rejected
from hydrofoil.clock import Clock
from hydrofoil.request import User

RSA = rsa.generate_private_key(65537, 2048)
KEY = key_of(RSA)
ISSUER = "https://issuer.example.com"
CLAIMS = f'{{"iss":"{ISSUER}","aud":"a","sub":"s","exp":4102444800}}'.encode()
PUBLIC: dict[str, Any] = dict(KEY.jose.as_dict(private=False))


class Provider:
    """An issuer with one key."""

    url = ISSUER
    keys = (Key(KEY.kid, KEY.jose),)

    def age(self) -> None:
        """Do nothing: the keys do not change."""

    async def refresh(self) -> bool:
        return False


class Accounts(Signed):
    """Tokens of one user."""

    async def user(self, token: str, claims: dict[str, Any]) -> tuple[User, tuple[str, ...]]:
        return User("u"), ()


def part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(header: dict[str, Any] | bytes, claims: bytes = CLAIMS) -> str:
    """Return a token with any header and a signature of it."""
    text = header if isinstance(header, bytes) else orjson.dumps({"alg": "RS256", "kid": KEY.kid} | header)
    said = f"{part(text)}.{part(claims)}"
    return f"{said}.{part(RSA.sign(said.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


async def of_account(token: str) -> bool:
    accounts = Accounts(Keys(KEY, ()), (ISSUER,), ("a",), Counts())
    try:
        return await accounts.authenticate(token, ("a",)) is not None
    except Rejected:
        return False


async def of_issuer(token: str) -> bool:
    parsed = read(token)
    if parsed is None:
        return False
    try:
        await Verifier(("a",), ("RS256", "ES256"), Clock()).verify(Provider(), token, parsed)  # type: ignore[arg-type]
    except Rejected:
        return False
    return True


both = pytest.mark.parametrize("accepts", [of_account, of_issuer])

REFUSED: dict[str, dict[str, Any] | bytes] = {
    "an extension that nobody knows": {"crit": ["x"], "x": 1},
    "one beside a known one": {"crit": ["b64", "x"], "b64": True, "x": 1},
    "a registered member": {"crit": ["exp"], "exp": 1},
    "one that is absent": {"crit": ["x"]},
    "no list": {"crit": "b64"},
    "no texts": {"crit": [1]},
    "an object": {"crit": {"b64": True}},
    "a payload as it is": {"crit": ["b64"], "b64": False},
    "the same without being required": {"b64": False},
    "an id that is no text": {"kid": 7},
    "an algorithm that is none": {"alg": "none"},
    "an algorithm that is no text": {"alg": ["RS256"]},
    "an algorithm of another kind of key": {"alg": "ES256"},
    "a symmetric algorithm": {"alg": "HS256"},
    "a nonce that is no text": {"nonce": 1},
    "a private key": {"jwk": dict(RSAKey.generate_key(2048).as_dict(private=True))},
    "a secret": {"jwk": dict(OctKey.generate_key(256).as_dict(private=True))},
    "no key": {"jwk": {"kty": "RSA"}},
    "a text for a key": {"jwk": "x"},
    "no certificates": {"x5c": ["AAAA"]},
    "a text for certificates": {"x5c": "AAAA"},
    "a member twice": b'{"alg":"RS256","kid":"%s","alg":"RS256"}' % KEY.kid.encode(),
    "an algorithm in front of none": b'{"alg":"none","kid":"%s","alg":"RS256"}' % KEY.kid.encode(),
    "a required member twice": b'{"alg":"RS256","crit":["x"],"x":1,"crit":[]}',
    "a member of a member twice": b'{"alg":"RS256","jwk":{"kty":"RSA","kty":"oct"}}',
    "no object": b'["RS256"]',
    "null": b"null",
}
TAKEN: dict[str, dict[str, Any]] = {
    "nothing else": {},
    "a type": {"typ": "at+jwt"},
    "a nested one that is none": {"cty": "JWT"},
    "members that nobody requires": {"x": {"y": [1]}},
    "a known extension": {"crit": ["b64"], "b64": True},
    "no extension": {"crit": []},
    "a public key of another": {"jwk": dict(RSAKey.generate_key(2048).as_dict(private=False))},
}


@both
@pytest.mark.parametrize("what", REFUSED)
async def test_what_must_be_refused(accepts: Callable[[str], Any], what: str) -> None:
    assert not await accepts(signed(REFUSED[what]))


@both
@pytest.mark.parametrize("what", TAKEN)
async def test_what_may_be_accepted(accepts: Callable[[str], Any], what: str) -> None:
    assert await accepts(signed(TAKEN[what]))


@both
async def test_other_forms_are_refused(accepts: Callable[[str], Any]) -> None:
    good = signed({})
    assert await accepts(good)
    header, claims, signature = good.split(".")
    whole = {"payload": claims, "protected": header, "signature": signature}
    several = {"payload": claims, "signatures": [{"protected": header, "signature": signature}] * 2}
    forms = [orjson.dumps(form).decode() for form in (whole, several)]
    forms += [f"{header}..{signature}", f"{header}.{claims}.", f"{header}.{claims}", f"{good}.{signature}"]
    forms += [
        f"{header}=.{claims}.{signature}",
        f"{header}.{claims}==.{signature}",
        f"{good}==",
        f"{good}.",
        f".{good}",
    ]
    forms += [good.replace("_", "/").replace("-", "+") + "+", f"{header}.{claims} .{signature}", f"{good}A"]
    forms += [f"{part(signed({}).encode())}.{claims}.{signature}", f"{header}.{part(good.encode())}.{signature}"]
    for form in forms:
        assert not await accepts(form), form


async def test_a_claim_that_is_there_twice_is_refused_where_upstream_reads_it_once() -> None:
    """go-jose's reader refuses it; Go's own, which reads the claims of issuers, takes the last."""
    twice = CLAIMS.replace(b'"sub":"s"', b'"sub":"s","sub":"t"')
    assert not await of_account(signed({}, twice))
    assert await of_issuer(signed({}, twice))


async def test_a_signature_has_the_length_of_its_curve() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    keys = Keys(key_of(key), ())
    token = keys.sign(CLAIMS)
    accounts = Accounts(keys, (ISSUER,), ("a",), Counts())
    assert await accounts.authenticate(token, ("a",)) is not None
    said = token.rpartition(".")[0]
    der = key.sign(said.encode(), ec.ECDSA(hashes.SHA256()))
    with pytest.raises(Rejected):
        await accounts.authenticate(f"{said}.{part(der)}", ("a",))
