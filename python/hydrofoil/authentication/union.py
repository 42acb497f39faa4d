"""Authenticators of tokens, one after the other (apiserver `token/union/union.go`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hydrofoil.authentication import cache
from hydrofoil.authentication.login import Login, Rejected, TokenAuthenticator
from hydrofoil.clock import Clock
from hydrofoil.errors import aggregate
from hydrofoil.request import User

AUTHENTICATED, UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
ANONYMOUS_NAME = "system:anonymous"
LONGEST = 512 * 1024
"""The longest token, in characters, that is looked at; heads of requests are bounded, bodies of reviews less so."""

KEPT_AUDIENCES = 4096
"""Logins of reviews are kept if their audiences are shorter than this, in characters."""


class Known(Struct):
    """One authenticator."""

    tokens: TokenAuthenticator
    agnostic: bool = True
    """Whether its tokens are good for the audiences of this server, whichever these are."""


class Tokens:
    """The authenticators of bearer tokens in their order, and the logins that they gave a moment ago."""

    def __init__(self, clock: Clock) -> None:
        self.audiences: tuple[str, ...] = ()
        """The audiences of this server."""
        self.known: list[Known] = []
        self._logins = cache.logins(clock)
        self.fetches = cache.Fetches()
        """Those of the logins here, and of the answers that a webhook gave before."""
        self.presented: Callable[[str], Login | None] = self._logins.presented
        """Return the login of a header with a token that was accepted a moment ago."""
        self.presented_life: Callable[[str], tuple[int, int] | None] = self._logins.presented_life
        """Return from when until when that is kept, in nanoseconds since 1970."""
        self.count_hits: Callable[[int], None] = self._logins.count
        """Count uses of kept logins that were found by other means."""

    def kept(self, token: str) -> Login | None:
        """Return the login of a token for this server if it was accepted a moment ago."""
        found: Login | None = self._logins.get(cache.key(token))
        return found

    def present_fetches(self) -> cache.Fetches:
        """Return the present counts."""
        found = self.fetches.copy()
        found.hits += self._logins.hits
        return found

    def forget(self) -> None:
        """Look at every token anew."""
        self._logins.clear()

    async def authenticate(self, token: str, audiences: Sequence[str] | None = None) -> Login:
        """Return the login of a token, by default for this server. Raise Rejected with all reasons.

        A refusal of one authenticator does not end the search.
        """
        if len(token) > LONGEST or not readable(token):
            raise Rejected("invalid bearer token")
        key = cache.key(token, audiences)
        kept: Login | None = self._logins.get(key)
        if kept is not None:
            return kept
        wanted = self.audiences if audiences is None else tuple(audiences)
        reasons = ["invalid bearer token"]
        login, failed, since = None, True, self.fetches.wait()
        self.fetches.fetch()
        try:
            login = await self._ask(token, wanted, reasons)
            failed = login is None and len(reasons) > 1
        finally:
            self.fetches.end_fetch(failed=failed)
            self.fetches.end_wait(since)
        if login is None:
            raise Rejected(aggregate(reasons))
        if audiences is None or sum(map(len, audiences)) < KEPT_AUDIENCES:
            self._logins.put(key, login)
        return login

    async def _ask(self, token: str, wanted: tuple[str, ...], reasons: list[str]) -> Login | None:
        """Return the login that the first authenticator gives, if any does; add the reasons of those that refuse."""
        for known in self.known:
            good = tuple(a for a in wanted if a in self.audiences) if known.agnostic else ()
            if known.agnostic and wanted and self.audiences and not good:
                continue
            try:
                found = await known.tokens.authenticate(token, wanted)
            except Rejected as e:
                reasons.append(str(e))
                continue
            if found is not None:
                return replace(found, user=add_group(found.user), audiences=found.audiences or good)
        return None


def readable(token: str) -> bool:
    """Report whether a token is text: other bytes of a header are no part of any."""
    try:
        token.encode()
    except UnicodeEncodeError:
        return False
    return True


def add_group(user: User) -> User:
    """Return a user with the group of all authenticated ones (`group/authenticated_group_adder.go`)."""
    if user.name == ANONYMOUS_NAME or AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))
