"""Headers of signed tokens that a verifier must refuse (RFC 7515 and 7797; go-jose `shared.go`, `jws.go`)."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from hydrofoil.authentication.bearer import decode_base64url

TEXTS = {"kid": "key ID", "alg": "algorithm", "nonce": "nonce"}
"""Members that must be texts, as go-jose calls them."""
UNDERSTOOD = frozenset(("b64",))
"""The extensions that a header may require."""
PRIVATE = ("d", "p", "q", "dp", "dq", "qi", "oth", "k")
"""The members of a key that are secret."""


class Twice(ValueError):
    """An object that has a member twice: two readers may take either."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise Twice(f"json: duplicate key '{name}' in object")
        found[name] = value
    return found


def find_repeated_member(part: str) -> str:
    """Return why the JSON of a part of a token has a member twice, at any depth; empty if it has none."""
    try:
        json.loads(decode_base64url(part) or b"", object_pairs_hook=_once)
    except (ValueError, RecursionError) as e:
        return str(e)
    return ""


def find_malformation(token: str, header: dict[str, Any]) -> str:
    """Return why a token with this header is no signed token at all; empty if it is one."""
    if why := find_repeated_member(token.partition(".")[0]):
        return why
    for name, shown in TEXTS.items():
        if not isinstance(header.get(name), str | None):
            return f"failed to unmarshal {shown}: {name} must be a string"
    key, chain = header.get("jwk"), header.get("x5c")
    if key is not None and not _public(key):
        return "go-jose/go-jose: invalid embedded jwk, must be public key"
    if chain is not None and not _certificates(chain):
        return "failed to unmarshal x5c header"
    return ""


def understands(header: dict[str, Any]) -> bool:
    """Report whether every extension that a header requires is known, and does not change what was signed."""
    required = header.get("crit")
    if required is not None and not (
        isinstance(required, list) and all(isinstance(name, str) and name in UNDERSTOOD for name in required)
    ):
        return False
    return header.get("b64") is not False


def _public(key: Any) -> bool:
    """Report whether a member `jwk` is a public key; it is never used."""
    from joserfc.errors import JoseError
    from joserfc.jwk import import_key

    if not isinstance(key, dict) or key.get("kty") == "oct" or any(name in key for name in PRIVATE):
        return False
    try:
        import_key(key)
    except (JoseError, ValueError, TypeError, KeyError):
        return False
    return True


def _certificates(chain: Any) -> bool:
    """Report whether a member `x5c` has certificates; they are never used."""
    from cryptography import x509

    if not isinstance(chain, list):
        return False
    try:
        for item in chain:
            x509.load_der_x509_certificate(base64.b64decode(item, validate=True))
    except (binascii.Error, ValueError, TypeError):
        return False
    return True
