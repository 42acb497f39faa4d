"""Users named by the headers of a front proxy (apiserver `request/headerrequest/requestheader.go`)."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from hydrofoil.authentication.client_certificates import Authorities
from hydrofoil.authentication.login import Login, Rejected
from hydrofoil.authentication.options import CredentialOptions
from hydrofoil.clock import Clock
from hydrofoil.request import Headers, Incoming, User

ESCAPES = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*")
STANDARD = ("x-remote-user", "x-remote-uid", "x-remote-group")
STANDARD_PREFIX = "x-remote-extra-"


class HeaderNames(Struct, frozen=True):
    """The headers with the user of a proxy's request."""

    users: tuple[str, ...]
    uids: tuple[str, ...]
    groups: tuple[str, ...]
    extras: tuple[str, ...]
    """Prefixes, in lower case."""
    every: frozenset[str]
    """All names in lower case, the standard ones too."""
    prefixes: tuple[str, ...]

    @classmethod
    def of(cls, options: CredentialOptions) -> HeaderNames:
        """Return the names that the flags give."""
        users, uids = options.requestheader_username_headers, options.requestheader_uid_headers
        groups, extras = options.requestheader_group_headers, options.requestheader_extra_headers_prefix
        lower = tuple(prefix.lower() for prefix in extras)
        every = frozenset(name.lower() for name in (*users, *uids, *groups, *STANDARD))
        return cls(tuple(users), tuple(uids), tuple(groups), lower, every, (*lower, STANDARD_PREFIX))

    def marked(self, name: str) -> bool:
        """Report whether a header, in lower case, is one of a proxy's."""
        return name in self.every or name.startswith(self.prefixes)


class FrontProxy:
    """Accept the user in the headers of a request with the certificate of a proxy."""

    def __init__(self, authorities: Authorities, names: HeaderNames, allowed: frozenset[str], clock: Clock) -> None:
        """Accept certificates with one of the `allowed` common names, or with any if there are none."""
        self._authorities = authorities
        self._names = names
        self._allowed = allowed
        self._clock = clock

    def authenticate(self, request: Incoming) -> Login | None:
        """Return the login in the headers; None without a certificate or a user. Raise Rejected."""
        if not request.certificates:
            return None
        subject = self._authorities.ca.verify(request.certificates, self._clock.seconds())
        name = "" if subject is None else subject.name
        if self._allowed and name not in self._allowed:
            raise Rejected(f"x509: subject with cn={name} is not in the allowed list")
        user = self._user(request.headers)
        return None if user is None else Login(user)

    def _user(self, headers: Headers) -> User | None:
        names = self._names
        name = first(headers, names.users)
        if not name:
            return None
        groups = [group for key in names.groups for group in headers.getall(key, []) if group]
        extra: dict[str, tuple[str, ...]] = {}
        for prefix in names.extras:
            for header, value in headers.items():
                low = header.lower()
                if low.startswith(prefix):
                    key = unescape_key(low[len(prefix) :])
                    extra[key] = (*extra.get(key, ()), value)
        return User(name, first(headers, names.uids), tuple(groups), extra)


def first(headers: Headers, names: tuple[str, ...]) -> str:
    """Return the first value, not empty, of the first of these headers that has one."""
    return next((value for name in names if (value := headers.get(name, ""))), "")


def unescape_key(key: str) -> str:
    """Return a key without its percent escapes, or as it is if one is malformed (Go's `url.PathUnescape`)."""
    if "%" not in key or ESCAPES.fullmatch(key) is None:
        return key
    return unquote_to_bytes(key).decode(errors="replace")
