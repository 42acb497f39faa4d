"""Claims of tokens: their types, as Go's decoder has them, and their times (go-jose `jwt/claims.go`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.authentication.login import Rejected

LEEWAY = 60
"""The difference of clocks in seconds that is forgiven (`jwt.DefaultLeeway`)."""
MALFORMED = "service account token claims could not be decoded"


def text(claims: dict[str, Any], name: str) -> str:
    """Return a text, empty if missing. Raise Rejected for another type."""
    found = claims.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise Rejected(MALFORMED)
    return found


def number(claims: dict[str, Any], name: str) -> int | None:
    """Return a time in seconds; None if missing. Raise Rejected for another type."""
    found = claims.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise Rejected(MALFORMED)
    if not -(2.0**62) < found < 2.0**62:
        raise Rejected(MALFORMED)
    return int(found)


def members(claims: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Return an object; None if missing. Raise Rejected for another type."""
    found = claims.get(name)
    if found is not None and not isinstance(found, dict):
        raise Rejected(MALFORMED)
    return found


def audiences(claims: dict[str, Any]) -> tuple[str, ...]:
    """Return the audiences: one or several. Raise Rejected for another type."""
    found = claims.get("aud")
    if found is None:
        return ()
    if isinstance(found, str):
        return (found,)
    if not isinstance(found, list) or not all(isinstance(audience, str) for audience in found):
        raise Rejected(MALFORMED)
    return tuple(found)


def check_times(claims: dict[str, Any], now: float) -> None:
    """Raise Rejected for a token that has expired or is not valid yet."""
    not_before, expires, issued = (number(claims, name) for name in ("nbf", "exp", "iat"))
    if not_before is not None and now + LEEWAY < not_before:
        raise Rejected("service account token is not valid yet")
    if expires is not None and now - LEEWAY > expires:
        raise Rejected("service account token has expired")
    if issued is not None and now + LEEWAY < issued:
        raise Rejected("service account token is issued in the future")
