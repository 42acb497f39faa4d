"""Requests of web pages to a server on the loopback address, which needs no credentials.

A browser sends the name in the page's URL as `Host`, whatever address the name resolves to, and marks requests that a
page makes to another site. Programs do neither.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from multidict import CIMultiDict, CIMultiDictProxy

from hydrofoil.headers import HOST, ORIGIN, SITE

CONTROLS = "/hydrofoil/v1"
"""The paths that a test asks a server itself on: every error there is a Status."""
LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))
FORBIDDEN = "403 Forbidden: this address answers programs of this machine only"


@lru_cache(maxsize=64)
def is_local(host: str, own: str) -> bool:
    """Report whether a Host header has this machine's name or the server's own address, on any port."""
    name = host.lower()
    if name.startswith("["):
        name, bracket, rest = name[1:].partition("]")
        if not bracket or ":" not in name or (rest and not rest.startswith(":")):
            return False
    else:
        name = name.partition(":")[0]
    return name in LOCAL or name == own


def foreign(headers: CIMultiDict[str] | CIMultiDictProxy[str], own: str) -> bool:
    """Report whether a page of another site makes a request of a server whose address is `own`."""
    host = headers.get(HOST)
    if host and not is_local(host, own):
        return True
    if ORIGIN in headers and not all(_is_own_origin(origin, own) for origin in headers.getall(ORIGIN)):
        return True
    return SITE in headers and any(site.strip().lower() == "cross-site" for site in headers.getall(SITE))


def _is_own_origin(origin: str, own: str) -> bool:
    try:
        host = urlsplit(origin.strip()).hostname
    except ValueError:
        return False
    return host is not None and (host in LOCAL or host == own)
