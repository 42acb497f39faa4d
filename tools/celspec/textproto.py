"""Text format of protocol buffers, as far as the cases need it: messages, scalars, repeated fields, Any."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TOKEN = re.compile(
    r"""\s+|\#[^\n]*|(?P<name>[A-Za-z_][\w.]*)|(?P<number>-?(?:0x[0-9a-fA-F]+|[0-9.][\w.+-]*|inf|nan))"""
    r"""|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<sign>[{}<>\[\]:,;/-])""",
    re.DOTALL,
)
Message = dict[str, list[Any]]
"""Each field has the list of its values."""
ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
SIMPLE = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def unescaped(text: str) -> bytes:
    """Return the bytes of a quoted text."""

    def one(m: re.Match[bytes]) -> bytes:
        octal, two, four, eight, other = m.groups()
        if octal:
            return bytes([int(octal, 8) & 255])
        if two:
            return bytes([int(two, 16)])
        if four or eight:
            return chr(int(four or eight, 16)).encode(errors="surrogatepass")
        return SIMPLE.get(other, other)

    return ESCAPE.sub(one, text[1:-1].encode())


class Parser:
    """One document."""

    def __init__(self, source: str) -> None:
        self._tokens = [(m.lastgroup, m.group()) for m in TOKEN.finditer(source) if m.lastgroup]
        self._at = 0

    def message(self, end: str = "") -> Message:
        """Fields up to a closing sign."""
        out: Message = {}
        while self._at < len(self._tokens):
            _, text = self._next()
            if text == end:
                return out
            if text in ",;":
                continue
            if text == "[":
                text = "".join(self._until("]"))
            out.setdefault(text, []).extend(self._values())
        return out

    def _next(self) -> tuple[str | None, str]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _until(self, end: str) -> Iterator[str]:
        while (text := self._next()[1]) != end:
            yield text

    def _values(self) -> list[Any]:
        if self._tokens[self._at][1] == ":":
            self._at += 1
        if self._tokens[self._at][1] != "[":
            return [self._value()]
        self._at += 1
        out = []
        while self._tokens[self._at][1] != "]":
            if self._tokens[self._at][1] == ",":
                self._at += 1
            else:
                out.append(self._value())
        self._at += 1
        return out

    def _value(self) -> Any:
        kind, text = self._next()
        if text in "{<":
            return self.message("}" if text == "{" else ">")
        if text == "-":
            return "-" + self._next()[1]
        if kind != "text":
            return text
        data = unescaped(text)
        while self._at < len(self._tokens) and self._tokens[self._at][0] == "text":
            data += unescaped(self._next()[1])
        return data


def parse(source: str) -> Message:
    """Parse a document."""
    return Parser(source).message()
