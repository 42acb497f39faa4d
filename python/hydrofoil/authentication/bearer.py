"""Tokens in requests: the Authorization header, and the subprotocols of a WebSocket."""

from __future__ import annotations

import base64
import re

from hydrofoil.authentication.login import Rejected
from hydrofoil.request import Headers

PREFIX = "base64url.bearer.authorization.k8s.io."
EXTRA_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored"
UPGRADE = re.compile(r"(^|.*,\s*)upgrade($|\s*,)")
BASE64URL = re.compile(r"[A-Za-z0-9_-]*")
INVALID = "invalid bearer token"
ENCODING = "invalid base64.bearer.authorization token encoding"


def bearer(value: str, warnings: list[str]) -> str:
    """Return the token of an Authorization header, empty without one (apiserver `bearertoken/bearertoken.go`)."""
    scheme, _, rest = value.strip().partition(" ")
    if scheme != "Bearer" and scheme.lower() != "bearer":
        return ""
    token, more, _ = rest.partition(" ")
    if more and not token:
        warnings.append(EXTRA_SPACE)
    return token


def decode_base64url(text: str) -> bytes | None:
    """Return the bytes of base64url without padding; None for anything else (Go's `RawURLEncoding`)."""
    if len(text) % 4 == 1 or BASE64URL.fullmatch(text) is None:
        return None
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def is_websocket(headers: Headers) -> bool:
    """Report whether a request asks for a WebSocket (apimachinery `httpstream/wsstream/conn.go`)."""
    if headers.get("Upgrade", "").lower() != "websocket":
        return False
    return UPGRADE.match(headers.get("Connection", "").lower()) is not None


def subprotocols(headers: Headers) -> tuple[str, list[str]]:
    """Return the token among the subprotocols of a WebSocket, and the others; the token is empty without one.

    Raise Rejected for two tokens, a malformed one, or one without another protocol (`websocket/protocol.go`).
    """
    token, seen = "", False
    others: list[str] = []
    for value in headers.getall("Sec-WebSocket-Protocol", []):
        for protocol in value.split(","):
            name = protocol.strip()
            if not name.startswith(PREFIX):
                others.append(name)
                continue
            if seen:
                raise Rejected("multiple bearer token protocols specified")
            seen = True
            data = decode_base64url(name.removeprefix(PREFIX))
            if data is None:
                raise Rejected(ENCODING)
            try:
                token = data.decode()
            except UnicodeDecodeError:
                raise Rejected(ENCODING) from None
    if token and not others:
        raise Rejected("missing additional subprotocol")
    return token, others
