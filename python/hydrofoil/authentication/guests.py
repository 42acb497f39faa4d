"""Users that a test made: each with a token of its own."""

from __future__ import annotations

import secrets  # noqa: TID251 - tokens do not repeat with a seed
from collections.abc import Sequence

from hydrofoil.authentication.cache import digest
from hydrofoil.authentication.login import Login
from hydrofoil.request import User

PREFIX = "hydrofoil.guest."
"""The beginning of their tokens. Its two dots have the server look at a token where it needs no credentials."""


class Guests:
    """Users by the digests of their tokens."""

    def __init__(self, *, strict: bool = False, required: bool = False) -> None:
        """`strict`: an unknown token is refused. `required`: a request without one is anonymous, not the admin's."""
        self.strict = strict
        self.required = required
        self._users: dict[bytes, User] = {}
        self._tokens: dict[tuple[str, tuple[str, ...]], str] = {}

    def token(self, name: str, groups: Sequence[str] = ()) -> str:
        """Return the token of a user, the same at each call."""
        known = name, tuple(groups)
        token = self._tokens.get(known)
        if token is None:
            token = self._tokens[known] = PREFIX + secrets.token_hex(16)
            self._users[digest(token)] = User(name, groups=known[1])
        return token

    def find(self, token: str) -> User | None:
        """Return the user of a token."""
        return self._users.get(digest(token))

    async def authenticate(self, token: str, audiences: Sequence[str] | None) -> Login | None:
        """Return the login of a token; None for an unknown one."""
        user = self.find(token)
        return None if user is None else Login(user)
