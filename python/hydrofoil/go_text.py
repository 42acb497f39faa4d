"""Texts as Go writes them: quotations, durations, escapes."""

from __future__ import annotations

import re
from collections.abc import Iterable

HTML_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
"""The characters that upstream escapes in texts that a browser might show (`responsewriters`)."""
_NUMBER = re.compile(r"\d+\.?\d*|\.\d+")
_UNITS = frozenset(("ns", "us", "µs", "μs", "ms", "s", "m", "h"))
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def quote(text: str) -> str:
    """Quote a text as Go's `%q` does."""

    def escaped(c: str) -> str:
        if c in _ESCAPES:
            return _ESCAPES[c]
        if c.isprintable():
            return c
        code = ord(c)
        return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    return f'"{"".join(map(escaped, text))}"'


def quote_slice(texts: Iterable[str]) -> str:
    """Return texts as Go's `%q` shows a slice."""
    return f"[{' '.join(map(quote, texts))}]"


def format_duration(seconds: float) -> str:
    """Return a duration as Go writes it: `1m30s`, `500ms`."""
    sign, nanoseconds = ("-" if seconds < 0 else ""), round(abs(seconds) * 1e9)
    if nanoseconds < 10**9:
        for unit, size in (("ms", 10**6), ("µs", 10**3), ("ns", 1)):
            if nanoseconds >= size:
                return f"{sign}{_number(nanoseconds, size)}{unit}"
        return "0s"
    minutes, rest = divmod(nanoseconds, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    out = f"{_number(rest, 10**9)}s"
    if hours or minutes:
        out = f"{minutes}m{out}"
    return sign + (f"{hours}h{out}" if hours else out)


def _number(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)


def explain_duration(text: str) -> str:
    """Return why a duration is invalid (`time.ParseDuration`)."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    while (number := _NUMBER.match(rest)) is not None:
        rest = rest[number.end() :]
        unit = re.match(r"[^.0-9]*", rest)
        word = unit[0] if unit else ""
        if not word:
            return f"missing unit in duration {quote(text)}"
        if word not in _UNITS:
            return f"unknown unit {quote(word)} in duration {quote(text)}"
        rest = rest[len(word) :]
    return f"invalid duration {quote(text)}"
