"""Relations that a placeholder would hide: `metadata.resourceVersion > 17`, `len(items) == 3`, `message =~ ^a`."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.conformance.replay.paths import Object, member

CHECK = re.compile(r"(.+?) (==|!=|>=|>|<|=~|!~) (.*)", re.DOTALL)
NUMBER = re.compile(r"-?\d+")


def holds(check: str, answer: Object) -> bool:
    """Report whether a relation holds for an answer. Numbers are compared as numbers if both sides are some."""
    match = CHECK.fullmatch(check)
    if not match:
        raise ValueError(f"not a check: {check}")
    left, operator, right = match.groups()
    length = re.fullmatch(r"len\((.*)\)", left)
    value = member(answer, length[1] if length else left)
    if length:
        value = len(value or "")
    text = value if isinstance(value, str) else json.dumps(value)
    if operator in ("=~", "!~"):
        return bool(re.search(right, text, re.MULTILINE)) == (operator == "=~")
    a: Any = text
    b: Any = right
    if NUMBER.fullmatch(text) and NUMBER.fullmatch(right):
        a, b = int(text), int(right)
    return bool({"==": a == b, "!=": a != b, ">": a > b, ">=": a >= b, "<": a < b}[operator])
