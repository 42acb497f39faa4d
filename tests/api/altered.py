"""Changes of one object in an answer, in the bytes of each encoding: all keep its place and its size."""

from __future__ import annotations

import re
from collections.abc import Callable

NAME = re.compile(rb"(bench|churn|status)-(\d)(?=\d)")
VERSIONS = {
    "protobuf": re.compile(rb"\x32([\x01-\x14])(\d+)"),
    "cbor": re.compile(rb"[\x4f\x6f]resourceVersion([\x41-\x54\x61-\x74])(\d+)"),
    "json": re.compile(rb'"resourceVersion":(")(\d+)"'),
}
"""The versions of objects, and the byte before, which has their size."""
TYPES = {
    "protobuf": (rb"^\x0a\x05ADDED|^\x0a\x08MODIFIED|^\x0a\x07DELETED", b"\x0a\x05", b"\x0a\x08"),
    "cbor": (rb"[\x45\x65]ADDED|[\x48\x68]MODIFIED|[\x47\x67]DELETED", b"\x45", b"\x48"),
    "json": (rb'"ADDED"|"MODIFIED"|"DELETED"', b'"', b'"'),
}


def encoding(media: str) -> str:
    """Return the name of an encoding."""
    return next((name for name in ("protobuf", "cbor") if name in media), "json")


def renamed(raw: bytes, _: str) -> bytes:
    """Give an object another name, wherever that is. Its marks stay."""
    return NAME.sub(rb"\g<1>-7", raw)


def content(raw: bytes, _: str) -> bytes:
    """Change the text of an object; without any, its mark."""
    made = raw.replace(b"quick", b"quack")
    return made if made != raw else re.sub(rb"~([mc])\d", rb"~\g<1>5", raw)


def version(raw: bytes, media: str) -> bytes:
    """Change the resourceVersion of an object."""

    def next_one(found: re.Match[bytes]) -> bytes:
        size = len(found[2]) if found[1] == b'"' else found[1][0] & 31
        at = found.start(2) - found.start() + size - 1
        whole = found[0]
        return whole[:at] + b"%d" % ((whole[at] - ord("0") + 1) % 10) + whole[at + 1 :]

    return VERSIONS[encoding(media)].sub(next_one, raw)


def namespace(raw: bytes, _: str) -> bytes:
    """Move an object into another namespace."""
    return re.sub(rb"hydrofoil-bench-(\w)", rb"hydrofoil-bench_\g<1>", raw)


ALTERED: dict[str, Callable[[bytes, str], bytes]] = {
    "renamed": renamed,
    "content": content,
    "version": version,
    "namespace": namespace,
}


def typed(event: bytes, media: str) -> bytes:
    """Give an event another type."""
    pattern, short, long = TYPES[encoding(media)]
    frame = event[4:] if "protobuf" in media else event
    quote = b'"' if short == b'"' else b""

    def other(found: re.Match[bytes]) -> bytes:
        return long + b"MODIFIED" + quote if b"ADDED" in found[0] else short + b"ADDED" + quote

    made = re.sub(pattern, other, frame, count=1)
    return len(made).to_bytes(4, "big") + made if "protobuf" in media else made
