"""Tokens in a file (apiserver `token/tokenfile/tokenfile.go`); the file is read at the start only."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from hydrofoil.authentication.cache import digest
from hydrofoil.authentication.csv import CsvError, records
from hydrofoil.authentication.login import Login
from hydrofoil.request import User

LOG = logging.getLogger("hydrofoil")


class StaticTokens:
    """Users by the digests of their tokens."""

    def __init__(self, users: dict[bytes, User]) -> None:
        self._users = users

    async def authenticate(self, token: str, audiences: Sequence[str] | None) -> Login | None:
        """Return the login of a token; None for an unknown one."""
        user = self._users.get(digest(token))
        return None if user is None else Login(user)


def users(text: str, path: str) -> dict[bytes, User]:
    """Return the users of a file by the digests of their tokens: `token,user,uid[,"group,group"]`. Raise ValueError."""
    found: dict[bytes, User] = {}
    try:
        for number, record in enumerate(records(text), 1):
            if len(record) < 3:
                raise ValueError(
                    f"token file {path!r} must have at least 3 columns (token, user name, user uid), "
                    f"found {len(record)}"
                )
            if not record[0]:
                LOG.warning("empty token has been found in token file %s, record %d", path, number)
                continue
            key = digest(record[0])
            if key in found:
                LOG.warning("duplicate token has been found in token file %s, record %d", path, number)
            groups = tuple(record[3].split(",")) if len(record) >= 4 and record[3] else ()
            found[key] = User(record[1], record[2], groups)
    except CsvError as e:
        raise ValueError(f"token file {path}: {e}") from None
    return found


def load(path: str) -> StaticTokens:
    """Read a file of tokens. Raise ValueError and OSError."""
    return StaticTokens(users(Path(path).read_text(encoding="utf-8", errors="surrogateescape"), path))
