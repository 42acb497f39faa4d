"""Bootstrap tokens in secrets of kube-system (`plugin/pkg/auth/authenticator/token/bootstrap`)."""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Sequence
from datetime import datetime

import orjson

from hydrofoil.authentication.login import Login
from hydrofoil.clock import Clock
from hydrofoil.registry.objects import Objects
from hydrofoil.request import User

TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})", re.ASCII)
TYPE = "bootstrap.kubernetes.io/token"
GROUP = "system:bootstrappers"
EXTRA_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]", re.ASCII)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


class BootstrapTokens:
    """Accept `ID.SECRET` as long as the secret `bootstrap-token-ID` allows it."""

    def __init__(self, objects: Objects, clock: Clock) -> None:
        self._objects = objects
        self._clock = clock

    async def authenticate(self, token: str, audiences: Sequence[str]) -> Login | None:
        """Return the login of a token; None for any that is not good."""
        found = TOKEN.fullmatch(token)
        if found is None:
            return None
        stored = self._objects.find("", "secrets", "kube-system", f"bootstrap-token-{found[1]}")
        if stored is None:
            return None
        secret = orjson.loads(stored.json)
        if secret["metadata"].get("deletionTimestamp") or secret.get("type") != TYPE:
            return None
        data = {name: base64.b64decode(value) for name, value in (secret.get("data") or {}).items()}
        if not hmac.compare_digest(data.get("token-secret", b""), found[2].encode()):
            return None
        if data.get("token-id") != found[1].encode() or data.get("usage-bootstrap-authentication") != b"true":
            return None
        if self._expired(data.get("expiration", b"")):
            return None
        groups = groups_of(data.get("auth-extra-groups", b"").decode(errors="replace"))
        return None if groups is None else Login(User(f"system:bootstrap:{found[1]}", groups=groups))

    def _expired(self, expiration: bytes) -> bool:
        """Report whether a time in RFC 3339 has come; malformed ones have."""
        if not expiration:
            return False
        text = expiration.decode(errors="replace")
        if TIME.fullmatch(text) is None:
            return True
        try:
            return self._clock.seconds() > datetime.fromisoformat(text).timestamp()
        except (ValueError, OverflowError):
            return True


def groups_of(extra: str) -> tuple[str, ...] | None:
    """Return the groups of a token, sorted, each once; None if one of the extra ones is not allowed."""
    names = extra.split(",") if extra else []
    if not all(EXTRA_GROUP.fullmatch(name) for name in names):
        return None
    return tuple(sorted({GROUP, *names}))
