"""Requests of web pages to a server on the loopback address, which needs no credentials.

A browser sends the name in the page's URL as `Host`, whatever address the name resolves to, and marks requests that a
page makes to another site. Programs do neither.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from urllib.parse import urlsplit

from multidict import CIMultiDict, CIMultiDictProxy

from hydrofoil.headers import HOST, ORIGIN, SITE

CONTROLS = "/hydrofoil/v1"
"""The paths that a test asks a server itself on: every error there is a Status."""
LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))
FORBIDDEN = "403 Forbidden: this address answers programs of this machine only; --accept-hosts names other hosts"


@lru_cache(maxsize=64)
def is_local(host: str, own: str, accepted: tuple[str, ...] = ()) -> bool:
    """Report whether a Host header has a name of this machine, the address of the server or an accepted name."""
    name = host.lower()
    if name.startswith("["):
        name, bracket, rest = name[1:].partition("]")
        if not bracket or ":" not in name or (rest and not rest.startswith(":")):
            return False
    else:
        name = name.partition(":")[0]
    return _known(name, own, accepted)


def _known(name: str, own: str, accepted: tuple[str, ...]) -> bool:
    return name in LOCAL or name == own or any(fnmatchcase(name, pattern) for pattern in accepted)


def foreign(headers: CIMultiDict[str] | CIMultiDictProxy[str], own: str, accepted: tuple[str, ...] = ()) -> bool:
    """Report whether a page of another site makes a request of a server whose address is `own`.

    `accepted` are patterns of names, in lower case, whose pages may.
    """
    host = headers.get(HOST)
    if host and not is_local(host, own, accepted):
        return True
    if ORIGIN in headers:
        origins = [_host(origin) for origin in headers.getall(ORIGIN)]
        if not all(_known(name, own, accepted) for name in origins):
            return True
        if accepted and not any(_known(name, own, ()) for name in origins):
            # Its site is another one, and it is accepted.
            return False
    return SITE in headers and any(site.strip().lower() == "cross-site" for site in headers.getall(SITE))


def _host(origin: str) -> str:
    """Return the host of an origin; empty without one."""
    try:
        return urlsplit(origin.strip()).hostname or ""
    except ValueError:
        return ""
