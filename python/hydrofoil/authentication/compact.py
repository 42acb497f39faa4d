"""Signed tokens in their compact form (RFC 7515), read without trust."""

from __future__ import annotations

from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.authentication.bearer import decode_base64url

LONGEST = 128 * 1024
"""The longest token that is read, in characters; upstream bounds the whole head of a request by 1 MiB."""


class Compact(Struct, frozen=True):
    """The parts of a token; nothing of it is verified."""

    header: dict[str, Any]
    claims: dict[str, Any]

    @property
    def issuer(self) -> str:
        """Return the claim `iss`, empty unless it is a text."""
        found = self.claims.get("iss")
        return found if isinstance(found, str) else ""


def read(token: str) -> Compact | None:
    """Return the parts of a token; None for any other text."""
    if len(token) > LONGEST or token.count(".") != 2:
        return None
    header, claims, signature = token.split(".")
    if decode_base64url(signature) is None:
        return None
    head, body = _members(header), _members(claims)
    return None if head is None or body is None else Compact(head, body)


def _members(part: str) -> dict[str, Any] | None:
    data = decode_base64url(part)
    if not data:
        return None
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
