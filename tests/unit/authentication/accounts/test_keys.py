"""Keys and signatures: every trick with `alg`, beside the same token unchanged (`pkg/serviceaccount/jwt.go`)."""

from __future__ import annotations

import base64
import hashlib
import hmac
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from hydrofoil.authentication import compact
from hydrofoil.authentication.accounts.keys import Key, Keys, generate_key, key_of, private_key, public_keys
from hydrofoil.authentication.login import Rejected

RSA = rsa.generate_private_key(65537, 2048)
RSA_PEM = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
CLAIMS = b'{"iss":"x"}'


def part(value: Any) -> str:
    data = value if isinstance(value, bytes) else orjson.dumps(value)
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def checked(keys: Keys, token: str) -> None:
    found = compact.read(token)
    if found is None:
        raise Rejected("malformed")
    keys.verify(token, found.header)


@pytest.fixture(params=["RS256", "ES256", "ES384"])
def key(request: pytest.FixtureRequest) -> Key:
    if request.param == "RS256":
        return key_of(RSA)
    return key_of(ec.generate_private_key(ec.SECP256R1() if request.param == "ES256" else ec.SECP384R1()))


def test_a_token_that_was_signed_here(key: Key) -> None:
    keys = Keys(key, ())
    token = keys.sign(CLAIMS)
    checked(keys, token)
    found = compact.read(token)
    assert found is not None
    assert found.header == {"alg": key.algorithm, "kid": key.kid}


def test_alg_tricks(key: Key) -> None:
    keys = Keys(key, ())
    good = keys.sign(CLAIMS)
    checked(keys, good)
    _, claims, signature = good.split(".")
    secret = RSA_PEM if key.algorithm == "RS256" else b"x"
    for header in (
        {"alg": "none", "kid": key.kid},
        {"alg": "None"},
        {"alg": "nOnE", "kid": key.kid},
        {"alg": "HS256", "kid": key.kid},
        {"alg": "HS512"},
        {"alg": "", "kid": key.kid},
        {"alg": None},
        {"alg": ["RS256"]},
        {"kid": key.kid},
        {"alg": "EdDSA", "kid": key.kid},
        {"alg": "RS512", "kid": key.kid},
        {"alg": "PS256", "kid": key.kid},
        {"alg": "ES512", "kid": key.kid},
        {"alg": key.algorithm, "kid": "another"},
        {"alg": key.algorithm, "kid": 7},
        {"alg": key.algorithm, "kid": key.kid, "crit": ["exp"]},
        {"alg": key.algorithm, "kid": key.kid, "b64": False, "crit": ["b64"]},
        {"alg": key.algorithm, "jwk": key_of(RSA).public},
    ):
        signed = f"{part(header)}.{claims}"
        mac = part(hmac.new(secret, signed.encode(), hashlib.sha256).digest())
        for last in ("", signature, mac):
            with pytest.raises(Rejected):
                checked(keys, f"{signed}.{last}")
    for token in (
        good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB"),
        f"{good}A",
        good.replace(".", "..", 1),
        f"{good}.{signature}",
        good.rpartition(".")[0],
        f"{good} ",
        good.replace(claims, part({"iss": "y"})),
    ):
        with pytest.raises(Rejected):
            checked(keys, token)


def test_a_key_of_another_kind_with_the_same_kid() -> None:
    mine, other = generate_key(), generate_key()
    keys = Keys(mine, ())
    forged = Keys(Key(mine.kid, other.algorithm, other.jose, other.public), ()).sign(CLAIMS)
    with pytest.raises(Rejected):
        checked(keys, forged)


async def test_a_key_is_made_on_first_use_and_stays() -> None:
    keys, other = Keys(None, ()), Keys(generate_key(), ())
    with pytest.raises(Rejected, match="no keys found"):
        checked(keys, other.sign(CLAIMS))
    await keys.ready()
    token = keys.sign(CLAIMS)
    await keys.ready()
    checked(keys, token)
    assert [key.public["alg"] for key in keys.all] == ["ES256"]
    assert not any({"d", "p", "q"} & key.public.keys() for key in keys.all)


def test_files_of_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    private = RSA.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    curve = made_pem()
    path.write_bytes(
        b"a comment\n" + RSA_PEM + b"\n" + curve + b"\n-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n"
    )
    found = public_keys(str(path))
    assert [key.algorithm for key in found] == ["RS256", "ES256"]
    path.write_bytes(private)
    signing = private_key(str(path))
    assert signing.kid == found[0].kid
    checked(Keys(None, found), Keys(signing, ()).sign(CLAIMS))


def made_pem() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize("content", [b"", b"no key", RSA_PEM[:100]], ids=["empty", "text", "cut"])
def test_files_without_a_key(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "keys"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="does not contain any valid RSA or ECDSA public keys"):
        public_keys(str(path))
    with pytest.raises(ValueError, match="no valid private key"):
        private_key(str(path))


def test_other_kinds_of_keys_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    key = ed25519.Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(ValueError, match="no valid private key"):
        private_key(str(path))
    with pytest.raises(ValueError, match="must be RSA"):
        key_of(ec.generate_private_key(ec.SECP256K1()))
