"""Refusals of values in plain words: those of kube-apiserver are Go's, and of use to tools alone."""

from __future__ import annotations

import re

TEXT = r'("(?:[^"\\]|\\.)*")'
RULES = (
    (rf"strconv\.Parse(?:Int|Uint): parsing {TEXT}: invalid syntax", r"\1 is no whole number"),
    (rf"strconv\.Parse(?:Int|Uint|Float): parsing {TEXT}: value out of range", r"\1 is out of range"),
    (rf"strconv\.ParseBool: parsing {TEXT}: invalid syntax", r"\1 is neither true nor false"),
    (rf"strconv\.ParseFloat: parsing {TEXT}: invalid syntax", r"\1 is no number"),
    (rf"time: missing unit in duration {TEXT}", r"\1 has no unit: it must be like 5s, 10m or 1h30m"),
    (rf"time: unknown unit {TEXT} in duration {TEXT}", r"\2 has the unknown unit \1: it must be like 5s, 10m or 1h30m"),
    (rf"time: invalid duration {TEXT}", r"\1 is no duration: it must be like 5s, 10m or 1h30m"),
    (r"can ?not be (?:a )?negative value", "must not be negative"),
    (r"can not be less than (\S+) or greater than (\S+)", r"must be between \1 and \2"),
    (r"must be between 1 and 65535, inclusive\. It cannot be turned off with 0, which takes any free port",
     "must be between 1 and 65535, or 0 for any free port"),
    (r", err: ", ": "),
)  # fmt: skip


def plain_words(line: str) -> str:
    """Return a refusal without the names of Go's functions."""
    for pattern, words in RULES:
        line = re.sub(pattern, words, line)
    return line


def refusal(name: str, text: str, why: str, *, allowed: bool) -> str:
    """Return the line on a value of a flag; `allowed` tells that it was well-formed, and why it is not allowed."""
    why = plain_words(why.replace("<flag>", name))
    if name.lstrip("-") in why:
        return why
    return f"{name}: {why}" if allowed or text in why else f'{name} "{text}": {why}'
