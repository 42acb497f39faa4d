"""JWTs: signed for a step, read for a comparison."""

from __future__ import annotations

import base64
import json
import re
import time
from pathlib import Path
from typing import Any

from tests.conformance.replay.identity.keys import encode, key_id, openssl
from tests.conformance.replay.paths import Object

TIME = re.compile(r"now([+-]\d+)")
DIGESTS = {"RS256": "-sha256", "RS384": "-sha384", "RS512": "-sha512"}


def sign(folder: Path, wanted: Object) -> str:
    """Return the token of {key, claims, header, alg}. A claim "now+60" or "now-60" is a time."""
    key, algorithm = wanted.get("key", "jwt"), wanted.get("alg", "RS256")
    header = {"alg": algorithm, "typ": "JWT", "kid": key_id(folder, key), **wanted.get("header", {})}
    header = {k: v for k, v in header.items() if v is not None}
    parts = (header, _times(wanted["claims"]))
    text = ".".join(encode(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
    if algorithm == "none":
        return text + "."
    file = str(folder / f"{key}.key")
    if algorithm == "HS256":  # keyed with the public part, as an attacker would
        mac = openssl("dgst", "-sha256", "-hmac", "x", "-binary", data=text.encode())
        return f"{text}.{encode(mac)}"
    if algorithm == "ES256":
        signature = openssl("dgst", "-sha256", "-sign", file, data=text.encode())
        return f"{text}.{encode(_numbers(signature))}"
    return f"{text}.{encode(openssl('dgst', DIGESTS[algorithm], '-sign', file, data=text.encode()))}"


def _times(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _times(v) for k, v in value.items()}
    if isinstance(value, str) and (match := TIME.fullmatch(value)):
        return int(time.time()) + int(match[1])
    return value


def _numbers(der: bytes) -> bytes:
    """Return a signature of an elliptic key as JWTs have it: both numbers with 32 bytes each."""
    first = der[4 : 4 + der[3]]
    second = der[6 + der[3] :]
    return b"".join(int.from_bytes(number, "big").to_bytes(32, "big") for number in (first, second))


def read(token: str) -> Any:
    """Return header and claims of a token, with the seconds that it lives; a text that is no token stays."""
    try:
        header, claims = (json.loads(base64.urlsafe_b64decode(part + "==")) for part in token.split(".")[:2])
    except ValueError:
        return token
    lifetime = claims["exp"] - claims["iat"] if {"exp", "iat"} <= claims.keys() else None
    claims = {k: "<time>" if k in ("exp", "iat", "nbf") else v for k, v in claims.items()}
    return {"header": header, "claims": claims, "lifetime": lifetime}
