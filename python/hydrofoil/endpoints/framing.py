"""Requests that others on their way could read otherwise (RFC 9112; Go's `net/http`).

The parser refuses most of them itself: lengths that differ or are no number, both kinds of framing, folded lines,
spaces before colons, bare line ends, chunks that are none. These are the ones that it takes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiohttp.http_parser import RawRequestMessage

HOST = re.compile(r"[0-9A-Za-z!$%&()*+,\-.:;=\['\]_~]*")
"""What a Host header may be made of (`httpguts.ValidHostHeader`)."""
ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


def refusal(message: RawRequestMessage) -> tuple[int, str] | None:
    """Status and text for a request that is not answered; the connection ends with it."""
    major, minor = message.version
    if major != 1:
        # A line without a version is one of HTTP/0.9 to the parser.
        if (major, minor) == (0, 9):
            return 400, "400 Bad Request"
        return 505, "505 HTTP Version Not Supported: unsupported protocol version"
    headers = message.headers
    if (coding := headers.get("Transfer-Encoding")) is not None:
        if minor == 0:
            return 400, "400 Bad Request"
        if "," in coding:
            # Who reads only one of several codings finds another end of the body.
            return 400, "400 Bad Request: unsupported transfer encoding"
        if coding.lower() != "chunked":
            return 501, "Unsupported transfer encoding"
    host = headers.get("Host")
    if host is not None and not is_host(host):
        return 400, "400 Bad Request: malformed Host header"
    if "%" in message.path and ESCAPE.search(message.path.partition("?")[0]):
        return 400, "400 Bad Request"
    return None


@lru_cache(maxsize=64)
def is_host(text: str) -> bool:
    """Whether a Host header may be what it is; clients name few."""
    return HOST.fullmatch(text) is not None


def origin_form(target: str) -> str:
    """The path and query of a target in absolute form; any other as it is."""
    found = ABSOLUTE.match(target)
    if found is None:
        return target
    rest = target[found.end() :]
    return rest if rest.startswith("/") else f"/{rest}"
