"""Requests whose framing is ambiguous (RFC 9112; Go's `net/http`).

The parser refuses most of them itself: differing or invalid lengths, both kinds of framing, folded lines,
spaces before colons, bare line ends, invalid chunks. These are the ones that it accepts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING

from aiohttp.http_writer import HttpVersion11

from hydrofoil.headers import HOST, TRANSFER_ENCODING

if TYPE_CHECKING:
    from aiohttp.http_parser import RawRequestMessage

HOST_TEXT = re.compile(r"[0-9A-Za-z!$%&()*+,\-.:;=\['\]_~]*")
"""The characters of a Host header (`httpguts.ValidHostHeader`)."""
ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


def refusal(message: RawRequestMessage) -> tuple[int, str] | None:
    """Return status and text for a request to reject, which closes the connection; None for a valid one."""
    version = message.version
    # The parser has one value for the version of nearly all requests.
    if version is not HttpVersion11 and version.major != 1:
        # It reads a line without a version as HTTP/0.9.
        if version == (0, 9):
            return 400, "400 Bad Request"
        return 505, "505 HTTP Version Not Supported: unsupported protocol version"
    headers = message.headers
    if (coding := headers.get(TRANSFER_ENCODING)) is not None:
        if version < HttpVersion11:
            return 400, "400 Bad Request"
        if "," in coding:
            # A recipient that reads only one of several codings finds another end of the body.
            return 400, "400 Bad Request: unsupported transfer encoding"
        if coding.lower() != "chunked":
            return 501, "Unsupported transfer encoding"
    host = headers.get(HOST)
    if host is not None and not is_host(host):
        return 400, "400 Bad Request: malformed Host header"
    if "%" in message.path and ESCAPE.search(message.path.partition("?")[0]):
        return 400, "400 Bad Request"
    return None


def continues(expected: str) -> bool:
    """Report whether a client waits for the word that its body may follow (`expectsContinue` of net/http)."""
    return any(word.strip(" \t").lower() == "100-continue" for word in expected.split(","))


@lru_cache(maxsize=64)
def is_host(text: str) -> bool:
    """Report whether a Host header is valid; clients use few."""
    return HOST_TEXT.fullmatch(text) is not None


def origin_form(target: str) -> str:
    """Return path and query of a target in absolute form, and any other target as it is."""
    found = ABSOLUTE.match(target)
    if found is None:
        return target
    rest = target[found.end() :]
    return rest if rest.startswith("/") else f"/{rest}"


def plain_refusal(status: int, text: str) -> bytes:
    """Return the answer to a malformed request, as `conn.serve` of net/http writes it."""
    line = text if text.startswith(f"{status} ") and status != 403 else f"{status} {HTTPStatus(status).phrase}"
    head = b"Content-Type: text/plain; charset=utf-8\r\nConnection: close"
    return b"HTTP/1.1 %s\r\n%s\r\n\r\n%s" % (line.encode(), head, text.encode())
