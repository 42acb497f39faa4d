"""Logins that are kept for a while (apiserver `token/cache/cached_token_authenticator.go`); refusals are not kept."""

from __future__ import annotations

from collections.abc import Sequence

from hydrofoil import engine
from hydrofoil.clock import Clock, stopwatch
from hydrofoil.counting import Histogram

SECONDS = 10
"""The life of a kept login (kubeapiserver `options/authentication.go`: TokenSuccessCacheTTL)."""
MOST = 4096
"""The largest number of kept logins."""
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The buckets of the durations of requests for logins, in seconds (`DefBuckets` of Prometheus)."""


class Fetches:
    """The requests for logins that were kept, and for others, which are fetched (`token/cache/stats.go`)."""

    __slots__ = ("blocked", "failed", "found", "hits", "missed", "under_way")

    def __init__(self) -> None:
        self.hits = 0
        self.missed = Histogram(BUCKETS)
        """The durations of requests for logins that were not kept, in whole milliseconds as upstream has them."""
        self.found = self.failed = 0
        """Fetches that ended without and with an error; an unknown token is not an error."""
        self.under_way = 0
        self.blocked = 0
        """Requests that wait for a fetch."""

    def copy(self) -> Fetches:
        """Return the present state."""
        found = Fetches()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(found, name, value.copy() if isinstance(value, Histogram) else value)
        return found

    def wait(self) -> float:
        """Begin to wait for a login that is not kept; return the moment."""
        self.blocked += 1
        return stopwatch()

    def end_wait(self, since: float) -> None:
        """End a wait that began at a moment."""
        self.blocked -= 1
        self.missed.observe(int((stopwatch() - since) * 1000) / 1000)

    def fetch(self) -> None:
        """Begin a fetch."""
        self.under_way += 1

    def end_fetch(self, *, failed: bool) -> None:
        """End a fetch."""
        self.under_way -= 1
        if failed:
            self.failed += 1
        else:
            self.found += 1


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
