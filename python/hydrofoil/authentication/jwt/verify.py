"""Verification of one token, in the order of upstream's library (coreos/go-oidc `verify.go`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hydrofoil.authentication.compact import LONGEST, Compact
from hydrofoil.authentication.jwt.flags import ALGORITHMS
from hydrofoil.authentication.login import Rejected
from hydrofoil.go_text import quote

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, RSAKey

LEEWAY = 60
"""Seconds by which `nbf` may be ahead; an `exp` in the past has none."""
TEXTS = ("sub", "nonce", "at_hash")
"""Claims that must be texts, if they are there."""
MANY = 8
"""The number of keys from which a signature is checked off the loop."""
GOOGLE = "accounts.google.com"
Claims = dict[str, Any]


class Key(Struct, frozen=True):
    """A public key of an issuer, and its id; empty without one."""

    id: str
    key: RSAKey | ECKey


def keys(document: Any) -> list[Key]:
    """Return the public keys of a key set (RFC 7517) that can verify; others are left out.

    Raise ValueError for another document.
    """
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, RSAKey

    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("the document has no keys")
    found = []
    for item in listed:
        kind = item.get("kty") if isinstance(item, dict) else None
        # A symmetric key never verifies: its holder could also sign.
        if kind not in ("RSA", "EC") or item.get("use", "sig") != "sig":
            continue
        public = {k: item[k] for k in ("kty", "n", "e", "crv", "x", "y") if k in item}
        try:
            key = RSAKey.import_key(public) if kind == "RSA" else ECKey.import_key(public)
        except (JoseError, ValueError, TypeError, KeyError):
            continue
        kid = item.get("kid")
        found.append(Key(kid if isinstance(kid, str) else "", key))
    return found


def issuer(token: Compact) -> str:
    """Return the issuer that a token names; Google's old form counts as the new one."""
    return f"https://{GOOGLE}" if token.issuer == GOOGLE else token.issuer


def check(token: Compact, wanted: str, audiences: Collection[str], algorithms: Collection[str], now: float) -> None:
    """Check what precedes the signature. Raise Rejected."""
    claims = token.claims
    for name in TEXTS:
        if not isinstance(claims.get(name, ""), str | None):
            raise Rejected(f"oidc: failed to unmarshal claims: {name} must be a string")
    if issuer(token) != wanted:
        raise Rejected(f"oidc: id token issued by a different provider, expected {quote(wanted)}")
    got = _audiences(claims.get("aud"))
    if not any(audience in audiences for audience in got):
        raise Rejected(f"oidc: expected audience in {_list(sorted(audiences))} got {_list(got)}")
    expiry = _moment(claims, "exp")
    if expiry is None or expiry < now:
        raise Rejected("oidc: token is expired")
    _moment(claims, "iat")
    begins = _moment(claims, "nbf")
    if begins is not None and now + LEEWAY < begins:
        raise Rejected("oidc: current time before the nbf (not before) time")
    algorithm = token.header.get("alg")
    # The second check holds even if a configuration should ever name another.
    if algorithm not in algorithms or algorithm not in ALGORITHMS:
        wanted = _list(sorted(algorithms))
        raise Rejected(f"oidc: id token signed with unsupported algorithm, expected {wanted}")


def key_id(token: Compact) -> str:
    """Return the id of the key that a token names; empty without one. Raise Rejected."""
    found = token.header.get("kid")
    if found is None:
        return ""
    if not isinstance(found, str):
        raise Rejected("oidc: malformed jwt: the key id must be a string")
    return found


def fitting(known: Sequence[Key], token: Compact) -> list[Key]:
    """Return the keys that may have signed a token: by its id, else all; of the kind that its algorithm needs."""
    wanted = key_id(token)
    kind = "EC" if str(token.header.get("alg")).startswith("ES") else "RSA"
    return [key for key in known if (not wanted or key.id == wanted) and key.key.key_type == kind]


def signed(token: str, candidates: Sequence[Key], algorithm: str) -> bool:
    """Report whether one of the keys signed a token."""
    from joserfc import jws
    from joserfc.errors import JoseError

    registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    registry.max_header_length = registry.max_payload_length = registry.max_signature_length = LONGEST
    for candidate in candidates:
        try:
            jws.deserialize_compact(token, candidate.key, registry=registry)
        except (JoseError, ValueError, TypeError):
            continue
        return True
    return False


def _audiences(found: Any) -> list[str]:
    if isinstance(found, str):
        return [found]
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(item, str | None) for item in found):
        raise Rejected("oidc: failed to unmarshal claims: aud must be a string or a list of strings")
    return [item or "" for item in found]


def _moment(claims: Claims, name: str) -> float | None:
    """Return a claim with a time; None without one. Raise Rejected."""
    if name not in claims:
        return None
    found = claims[name]
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise Rejected(f"oidc: failed to unmarshal claims: {name} must be a number")
    return float(found)


def _list(texts: Sequence[str]) -> str:
    return "[" + " ".join(map(quote, texts)) + "]"
