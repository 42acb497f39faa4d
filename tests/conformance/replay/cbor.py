"""CBOR as scenarios write and goldens show it."""

from __future__ import annotations

import base64
import struct
from typing import Any, Protocol

SELF_DESCRIBED = 55799
AS_BASE64 = 22
MARK = b"\xd9\xd9\xf7"
"""The self-described tag."""


class Source(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return that many bytes, or fewer at the end."""
        ...


def encode(value: Any) -> bytes:
    """Return a JSON-like value, which may hold byte strings, as CBOR with definite lengths."""
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        return _head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(map(encode, value))
    return _head(5, len(value)) + b"".join(encode(k) + encode(v) for k, v in value.items())


def _head(major: int, number: int) -> bytes:
    if number < 24:
        return bytes([major << 5 | number])
    size = next(k for k in range(4) if number < 1 << (8 << k))
    return bytes([major << 5 | 24 + size]) + number.to_bytes(1 << size, "big")


def decode(source: Source) -> Any:
    """Return the next item of a stream as JSON would show it.

    A byte string is text, since kube-apiserver sends text so. Tags are marked, the self-described one with `<cbor>`.
    It raises EOFError at the end of the stream, ValueError for other formats.
    """
    return _item(source, _take(source, 1)[0])


def _take(source: Source, size: int) -> bytes:
    if len(data := source.read(size)) < size:
        raise EOFError
    return data


def _item(source: Source, first: int, base64_text: bool = False) -> Any:
    major, info = first >> 5, first & 31
    if info > 27 and (info < 31 or major in (0, 1, 6, 7)):
        raise ValueError("not CBOR")
    raw = _take(source, 1 << info - 24) if 24 <= info <= 27 else bytes([info])
    number = None if info == 31 else int.from_bytes(raw, "big")
    if major == 7:
        if info < 25:
            return {20: False, 21: True, 22: None}.get(number or 0, f"<simple {number}>")
        return struct.unpack({25: ">e", 26: ">f", 27: ">d"}[info], raw)[0]
    if major in (0, 1):
        return number if major == 0 else -1 - (number or 0)
    if major == 6:
        mark = "<cbor>" if number == SELF_DESCRIBED else f"<tag {number}>"
        return {mark: _item(source, _take(source, 1)[0], number == AS_BASE64)}
    if major in (2, 3) and number is not None:
        data = _take(source, number)
        return base64.b64encode(data).decode() if base64_text else data.decode("utf-8", "backslashreplace")
    items: list[Any] = []
    while number is None or len(items) < number * (2 if major == 5 else 1):
        if (start := _take(source, 1)[0]) == 255 and number is None:
            break
        items.append(_item(source, start))
    if major in (2, 3):
        return "".join(items)
    return items if major == 4 else {str(k): v for k, v in zip(items[::2], items[1::2], strict=False)}
