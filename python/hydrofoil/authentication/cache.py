"""Logins that are kept for a while (apiserver `token/cache/cached_token_authenticator.go`); refusals are not kept."""

from __future__ import annotations

from collections.abc import Sequence

from hydrofoil import engine
from hydrofoil.clock import Clock

SECONDS = 10
"""The life of a kept login (kubeapiserver `options/authentication.go`: TokenSuccessCacheTTL)."""
MOST = 4096
"""The largest number of kept logins."""


def logins(clock: Clock) -> engine.Logins:
    """Return an empty cache."""
    return engine.Logins(clock.native, SECONDS, MOST)


def digest(token: str) -> bytes:
    """Return the digest under which a token is known: tokens themselves are neither kept nor compared."""
    return engine.token_digest(token.encode("utf-8", "surrogateescape"))


def key(token: str, audiences: Sequence[str] | None = None) -> bytes:
    """Return the key of a login for some audiences, by default those of the server: `presented` looks for these."""
    if audiences is None:
        return digest(token)
    return digest(token) + "".join(f"{len(one)}:{one}" for one in ("", *audiences)).encode("utf-8", "surrogateescape")
