"""Documents with conditions and ranges, as Go serves a file (net/http `fs.go`, `serveContent`)."""

from __future__ import annotations

import re
from email.utils import formatdate, parsedate_to_datetime
from hashlib import sha256

from msgspec import Struct

from hydrofoil.answer import Answer, plain
from hydrofoil.request import Headers

TAG = re.compile(r'\s*((?:W/)?"[^\x00-\x20"\x7f]*")')
WHOLE = re.compile(r"[+-]?[0-9]+")
INVALID, ELSEWHERE = "invalid range", "invalid range: failed to overlap"
Range = tuple[int, int]
"""The first byte, and the number of bytes."""


class Document(Struct, frozen=True):
    """A document in one encoding."""

    body: bytes
    media: str
    modified: int
    """The time of its last change, in seconds."""
    tag: str = ""
    """The entity tag with its quotes; empty for none."""
    head: bytes = b""
    """Further header lines of every answer with it."""


def content(document: Document, headers: Headers, common: bytes = b"") -> Answer:
    """Return the answer to a GET of a document; `common` are header lines of errors."""
    tag = f"ETag: {document.tag}\r\n".encode() if document.tag else b""
    date = f"Last-Modified: {formatdate(document.modified, usegmt=True)}\r\n".encode()
    media = b"Content-Type: %s\r\n" % document.media.encode()
    known = b"%s%s" % (document.head, tag)
    if _fails(document, headers):
        return Answer(412, known + date + media)
    if _unchanged(document, headers):
        return Answer(304, known if tag else known + date)
    body, asked = document.body, headers.get("Range", "")
    lines = b"%s%sAccept-Ranges: bytes\r\n" % (known, date)
    if not asked or not _same(document, headers.get("If-Range", "")):
        return Answer(200, lines + media, body)
    try:
        parts = ranges(asked, len(body))
    except ValueError as e:
        found = plain(416, f"{e}\n", common + document.head)
        if str(e) == ELSEWHERE:
            found.head += f"Content-Range: bytes */{len(body)}\r\n".encode()
        return found
    if not parts or sum(length for _, length in parts) > len(body):
        return Answer(200, lines + media, body)
    if len(parts) == 1:
        (start, length) = parts[0]
        return Answer(206, lines + _place(parts[0], len(body)) + media, body[start : start + length])
    # That of an unchanged document stays, and no document has it.
    boundary = sha256(f"{asked} {document.tag} {len(body)}".encode()).hexdigest()[:60].encode()
    pieces = [
        b"--%s\r\n%s%s\r\n%s\r\n" % (boundary, _place(part, len(body)), media, body[part[0] : part[0] + part[1]])
        for part in parts
    ]
    several = b"Content-Type: multipart/byteranges; boundary=%s\r\n" % boundary
    return Answer(206, lines + several, b"".join((*pieces, b"--%s--\r\n" % boundary)))


def ranges(text: str, size: int) -> list[Range]:
    """Return the parts of a document that a Range header asks for. Raise ValueError with Go's text."""
    unit, equals, rest = text.partition("=")
    if unit != "bytes" or not equals:
        raise ValueError(INVALID)
    found: list[Range] = []
    beyond = False
    for part in filter(None, (each.strip(" \t") for each in rest.split(","))):
        first, dash, last = (each.strip(" \t") for each in part.partition("-"))
        if not dash:
            raise ValueError(INVALID)
        if not first:
            if last.startswith("-"):
                raise ValueError(INVALID)
            length = min(_number(last), size)
            found.append((size - length, length))
            continue
        start = _number(first)
        if start >= size:
            beyond = True
            continue
        end = _number(last) if last else size - 1
        if start > end:
            raise ValueError(INVALID)
        found.append((start, min(end, size - 1) - start + 1))
    if beyond and not found:
        raise ValueError(ELSEWHERE)
    return found


def _number(text: str) -> int:
    number = int(text) if WHOLE.fullmatch(text) else -1
    if not 0 <= number < 1 << 63:
        raise ValueError(INVALID)
    return number


def _place(part: Range, size: int) -> bytes:
    return b"Content-Range: bytes %d-%d/%d\r\n" % (part[0], part[0] + part[1] - 1, size)


def _moment(text: str) -> int | None:
    """Return the seconds of an HTTP date; None for another text."""
    try:
        return int(parsedate_to_datetime(text).timestamp()) if text else None
    except (ValueError, OverflowError):
        return None


def _tags(text: str) -> list[str] | None:
    """Return the tags of a condition, up to the first that is malformed; None for any tag."""
    found: list[str] = []
    while text := text.strip(" \t,"):
        if text.startswith("*"):
            return None
        tag = TAG.match(text)
        if tag is None:
            break
        found.append(tag[1])
        text = text[tag.end() :]
    return found


def _fails(document: Document, headers: Headers) -> bool:
    """Report whether a condition on the present state does not hold."""
    if condition := headers.get("If-Match", ""):
        tags = _tags(condition)
        return tags is not None and not (document.tag and document.tag in tags)
    before = _moment(headers.get("If-Unmodified-Since", ""))
    return before is not None and document.modified > before


def _unchanged(document: Document, headers: Headers) -> bool:
    """Report whether the client has the present state."""
    if condition := headers.get("If-None-Match", ""):
        tags = _tags(condition)
        return tags is None or (bool(document.tag) and document.tag in [tag.removeprefix("W/") for tag in tags])
    since = _moment(headers.get("If-Modified-Since", ""))
    return since is not None and document.modified <= since


def _same(document: Document, condition: str) -> bool:
    """Report whether a range is of the state that the client has the rest of."""
    if not condition:
        return True
    if TAG.match(condition):
        return condition.strip() == document.tag
    return _moment(condition) == document.modified
