"""Logins, refusals, and the interfaces of authenticators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from hydrofoil.request import Incoming, User


class Login(Struct, frozen=True):
    """An accepted credential (apiserver `authenticator.Response`)."""

    user: User
    audiences: tuple[str, ...] = ()
    """The audiences of the request that the credential is good for; empty where it has none of its own."""
    warnings: tuple[str, ...] = ()
    """Warnings for the client, with each request that the login answers."""


class StandingLogin(NamedTuple):
    """A login that later requests of the same client have as well."""

    holds: tuple[int, int]
    """From when until when, in nanoseconds since 1970."""
    counts: Sequence[Callable[[int], None]] = ()
    """What counts so many further uses."""


FOREVER = StandingLogin((-(1 << 63), (1 << 63) - 1))


class Rejected(Exception):
    """A credential that its authenticator knows and refuses; the text never quotes the credential."""


class RequestAuthenticator(Protocol):
    """Authenticate by properties of the request: certificates and headers of a proxy."""

    def authenticate(self, request: Incoming) -> Login | None:
        """Return the login; None without such a credential. Raise Rejected."""


class TokenAuthenticator(Protocol):
    """Authenticate a bearer token."""

    async def authenticate(self, token: str, audiences: Sequence[str]) -> Login | None:
        """Return the login of a token good for one of the audiences; None if it is of another kind. Raise Rejected.

        Without audiences none is checked.
        """
