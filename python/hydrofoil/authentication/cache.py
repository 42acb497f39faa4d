"""Logins that are kept for a while (apiserver `token/cache/cached_token_authenticator.go`)."""

from __future__ import annotations

from hydrofoil import engine
from hydrofoil.authentication.login import Login
from hydrofoil.clock import Clock

SECONDS = 10.0
"""The life of a kept login (kubeapiserver `options/authentication.go`: TokenSuccessCacheTTL)."""
MOST = 4096
"""The largest number of kept logins."""
NANOSECONDS = 1_000_000_000
Key = tuple[bytes, tuple[str, ...] | None]


def digest(token: str) -> bytes:
    """Return the digest under which a token is known: tokens themselves are neither kept nor compared."""
    return engine.token_digest(token.encode("utf-8", "surrogateescape"))


class Logins:
    """Logins of tokens by their digest, each until its end; refusals are not kept."""

    def __init__(self, clock: Clock, seconds: float = SECONDS) -> None:
        self._clock = clock.native
        self._life = int(seconds * NANOSECONDS)
        self._kept: dict[Key, tuple[int, Login]] = {}

    def presented(self, header: str) -> Login | None:
        """Return the kept login of the token in an Authorization header, for this server, if the form is the usual."""
        found = engine.bearer_digest(header)
        return None if found is None else self.get((found, None))

    def get(self, key: Key) -> Login | None:
        """Return a kept login."""
        found = self._kept.get(key)
        if found is None:
            return None
        ends, login = found
        if self._clock.nanoseconds() >= ends:
            del self._kept[key]
            return None
        return login

    def put(self, key: Key, login: Login) -> None:
        """Keep a login; those that end first leave when there are too many."""
        self._kept.pop(key, None)
        while len(self._kept) >= MOST:
            # In the order of their ends, as all live equally long.
            del self._kept[next(iter(self._kept))]
        self._kept[key] = (self._clock.nanoseconds() + self._life, login)

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
