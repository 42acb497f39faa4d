"""The files of the page, as answers that browsers keep and check by their tags."""

from __future__ import annotations

import gzip
import hashlib
from functools import lru_cache
from importlib.resources import files

from msgspec import Struct

from hydrofoil.answer import NOSNIFF, Answer, plain

ROOT = "/ui"
STATS = "/ui/stats"
"""The figures of the server, which are data: only who has the right to this path gets them."""
INDEX = "index.html"
MEDIA = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # Whatever would parse markup throws: names and values of objects are only ever text.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
LINES = (
    f"Content-Security-Policy: {POLICY}\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
).encode() + NOSNIFF
# Names do not change with the content: browsers keep the files, and ask each time whether they are the latest.
CACHED = b"Cache-Control: no-cache\r\nVary: Accept-Encoding\r\n"


class PageFile(Struct, frozen=True):
    """A file of the page."""

    media: str
    tag: str
    """The entity tag, with its quotes."""
    content: bytes
    packed: bytes
    """The same by gzip."""


@lru_cache(maxsize=1)
def load_package_data() -> dict[str, PageFile]:
    """Return the files by their names, which all servers of a process share."""
    found = {}
    for entry in (files("hydrofoil.ui") / "files").iterdir():
        media = MEDIA.get(entry.name.rpartition(".")[2])
        if media is not None:
            content = entry.read_bytes()
            tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            found[entry.name] = PageFile(media, tag, content, gzip.compress(content, mtime=0))
    return found


class Page:
    """The answers for the files of the page."""

    def __init__(self) -> None:
        """Read the files."""
        self._files = load_package_data()

    def answer(self, method: str, path: str, tags: str, encodings: str) -> Answer | None:
        """Return the answer for a path without its query; None for one that is no file of the page.

        `tags` is the header If-None-Match, `encodings` the header Accept-Encoding.
        """
        if path == ROOT:
            return Answer(301, b"%sLocation: %s/\r\n" % (LINES, ROOT.encode()))
        found = self._files.get(path.removeprefix(f"{ROOT}/") or INDEX) if path.startswith(f"{ROOT}/") else None
        if found is None:
            return None
        if method not in ("GET", "HEAD"):
            return plain(405, "the files of the page are only read\n", b"Allow: GET, HEAD\r\n")
        head = b"%s%sETag: %s\r\n" % (LINES, CACHED, found.tag.encode())
        if matches(tags, found.tag):
            return Answer(304, head)
        head += f"Content-Type: {found.media}\r\n".encode()
        if accepts_gzip(encodings):
            return Answer(200, head + b"Content-Encoding: gzip\r\n", found.packed)
        return Answer(200, head, found.content)


def matches(tags: str, tag: str) -> bool:
    """Report whether a header If-None-Match has a tag (RFC 9110, 13.1.2: weak ones are equal to strong ones)."""
    given = [part.strip().removeprefix("W/") for part in tags.split(",")]
    return tag in given or given == ["*"]


def accepts_gzip(encodings: str) -> bool:
    """Report whether a header Accept-Encoding has gzip, with a weight other than 0."""
    for part in encodings.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
