"""Keys that sign and verify the tokens of service accounts (`pkg/serviceaccount/jwt.go`)."""

from __future__ import annotations

import asyncio
import base64
import re
import threading
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from hydrofoil.authentication.jose import understands
from hydrofoil.authentication.login import Rejected

ALGORITHMS = frozenset(f"{family}{bits}" for family in ("RS", "PS", "ES") for bits in (256, 384, 512))
"""Signatures with a public key; which of them a key verifies depends on the key."""
CURVES = {"secp256r1": ("ES256", "P-256"), "secp384r1": ("ES384", "P-384"), "secp521r1": ("ES512", "P-521")}
BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
NOT_SIGNED = "go-jose/go-jose: error in cryptographic primitive"
NO_KEYS = "data does not contain any valid RSA or ECDSA public keys"


class Key(Struct, frozen=True):
    """One key."""

    kid: str
    algorithm: str
    """The algorithm of its own signatures."""
    jose: Any
    """The key as the library has it; with its private part only if it signs."""
    public: dict[str, str]
    """As a JSON Web Key, in upstream's order of members."""


class Keys:
    """The keys of one server. Without any in files, one is made when it is first needed, and ends with the server."""

    def __init__(self, signing: Key | None, verifying: Sequence[Key], common: bytes = b"") -> None:
        """Take the keys of files; `common` is the one, in PEM, that all processes of a server sign with else."""
        self._common = common if signing is None else b""
        self._signing = signing
        self._all = list({key.kid: key for key in verifying}.values())
        if signing is not None and not self._all:
            self._all.append(signing)
        self._registry: Any = None
        self._making = threading.Lock()
        """Held by the thread that makes a key: two starts of one server must not sign with different ones."""

    async def ready(self) -> None:
        """Load the library, and make a key if there is none; both take too long for a turn of the loop."""
        if self._registry is None or self._signing is None:
            await asyncio.to_thread(self.load)

    def load(self) -> None:
        """Do the same at once."""
        self._library()
        with self._making:
            if self._signing is None:
                self._signing = read_key(self._common) if self._common else generate_key()
                self._all.append(self._signing)

    @property
    def exist(self) -> bool:
        """Report whether there are keys that tokens may have been signed with."""
        return bool(self._all or self._common)

    @property
    def all(self) -> list[Key]:
        """Return the keys that verify tokens."""
        return self._all

    def sign(self, claims: bytes) -> str:
        """Return a token with these claims, as JSON; the keys are ready."""
        from joserfc import jws

        key = self._signing
        assert key is not None, "there is a key once the keys are ready"
        header = {"alg": key.algorithm, "kid": key.kid}
        return jws.serialize_compact(header, claims, key.jose, registry=self._library())

    def verify(self, token: str, header: dict[str, Any]) -> None:
        """Verify the signature of a token; the keys are ready if there are any. Raise Rejected."""
        kid, algorithm = header.get("kid") or "", header.get("alg")
        if not isinstance(kid, str) or not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
            raise Rejected("unexpected signature algorithm")
        candidates = [key for key in self._all if not kid or key.kid == kid]
        if not candidates:
            raise Rejected("invalid signature, no keys found")
        if not understands(header):
            raise Rejected(NOT_SIGNED)
        from joserfc import jws
        from joserfc.errors import JoseError

        for key in candidates:
            try:
                jws.deserialize_compact(token, key.jose, registry=self._library())
            except (JoseError, ValueError, TypeError):
                continue
            return
        raise Rejected(NOT_SIGNED)

    def _library(self) -> Any:
        if self._registry is None:
            from joserfc import jws

            self._registry = jws.JWSRegistry(algorithms=sorted(ALGORITHMS), strict_check_header=False)
            # The bounds of this library are below what a valid token may have.
            self._registry.max_header_length = self._registry.max_payload_length = 128 * 1024
        return self._registry


def generate_key() -> Key:
    """Return a new key: as small and fast as verifiers everywhere know."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return key_of(ec.generate_private_key(ec.SECP256R1()))


def read_key(pem: bytes) -> Key:
    """Return a private key in PEM. Raise ValueError."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    return key_of(load_pem_private_key(pem, None))


def key_of(raw: Any) -> Key:
    """Return a key of the cryptographic library, private or public. Raise ValueError for an unknown kind."""
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
    from joserfc.jwk import ECKey, RSAKey

    public = raw.public_key() if isinstance(raw, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) else raw
    private = public is not raw
    if private:
        pem = raw.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    else:
        pem = raw.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    kid = base64.urlsafe_b64encode(sha256(der).digest()).rstrip(b"=").decode()
    shown = {"use": "sig", "kty": "", "kid": kid}
    if isinstance(public, rsa.RSAPublicKey):
        jose: Any = RSAKey.import_key(pem)
        members = jose.as_dict(private=False)
        shown |= {"kty": "RSA", "alg": "RS256", "n": members["n"], "e": members["e"]}
    elif isinstance(public, ec.EllipticCurvePublicKey) and public.curve.name in CURVES:
        algorithm, curve = CURVES[public.curve.name]
        jose = ECKey.import_key(pem)
        members = jose.as_dict(private=False)
        shown |= {"kty": "EC", "crv": curve, "alg": algorithm, "x": members["x"], "y": members["y"]}
    else:
        raise ValueError("a key must be RSA, or ECDSA with the curve 256, 384 or 521")
    return Key(kid, shown["alg"], jose, shown)


def private_key(path: str) -> Key:
    """Read a private key. Raise ValueError with one line."""
    for raw in _raw(path):
        if hasattr(raw, "private_bytes"):
            return key_of(raw)
    raise ValueError(f"failed to parse service-account-issuer-key-file: {path}: no valid private key")


def public_keys(path: str) -> list[Key]:
    """Read all keys and certificates of a file, of private keys the public part. Raise ValueError with one line."""
    raw = [key.public_key() if hasattr(key, "private_bytes") else key for key in _raw(path)]
    if not raw:
        raise ValueError(f"failed to parse service-account-key-file: error reading public key file {path}: {NO_KEYS}")
    return [key_of(key) for key in raw]


def _raw(path: str) -> list[Any]:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

    try:
        data = Path(path).read_bytes()
    except OSError as e:
        raise ValueError(f"open {path}: {(e.strerror or str(e)).lower()}") from None
    found: list[Any] = []
    for block in BLOCK.finditer(data):
        kind = block[1]
        try:
            if kind == b"CERTIFICATE":
                found.append(x509.load_pem_x509_certificate(block[0]).public_key())
            elif kind.endswith(b"PRIVATE KEY"):
                found.append(load_pem_private_key(block[0], None))
            elif kind.endswith(b"PUBLIC KEY"):
                found.append(load_pem_public_key(block[0]))
        except (ValueError, TypeError):
            continue
    known = (rsa.RSAPrivateKey, rsa.RSAPublicKey, ec.EllipticCurvePrivateKey, ec.EllipticCurvePublicKey)
    return [key for key in found if isinstance(key, known)]
