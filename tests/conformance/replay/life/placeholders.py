"""Placeholders for what a cluster makes up: hashes, generated letters, addresses, nodes, minutes of jobs."""

from __future__ import annotations

import re
from typing import Any

from tests.conformance.replay.paths import Object
from tests.conformance.replay.placeholders import PATTERNS as COMMON

SAFE = "[bcdfghjklmnpqrstvwxz2456789]"
HASHES = frozenset(("pod-template-hash", "controller-revision-hash", "controller.kubernetes.io/hash"))
PATTERNS = (
    (re.compile(r"(?<=[a-z0-9]-)2\d{7}(?![0-9a-z])"), "<minute>"),
    (re.compile(rf"(?<=[a-z0-9])-{SAFE}{{7,10}}-{SAFE}{{5}}(?![a-z0-9-])"), "-<hash>-<generated>"),
    (re.compile(rf"(?<=[a-z0-9])-{SAFE}{{7,10}}(?![a-z0-9-])"), "-<hash>"),
    (re.compile(rf"(?<=[a-z0-9])-{SAFE}{{7,10}}-$"), "-<hash>-"),
    (re.compile(rf"(?<=[a-z0-9>])-{SAFE}{{5}}(?![a-z0-9-])"), "-<generated>"),
    (re.compile(r"\b10\.\d+\.\d+\.\d+\b"), "<ip>"),
    (re.compile(r"\bnode-\d\b"), "<node>"),
    (re.compile(r"simulated://[0-9a-zA-Z.<>:/_-]*"), "<runtime>"),
)


def shorten(text: str) -> str:
    """Return a text with placeholders."""
    for pattern, placeholder in (*COMMON, *PATTERNS):
        text = pattern.sub(placeholder, text)
    return text


def simplify(value: Any) -> Any:
    """Return a value with placeholders, and conditions in the order of their types."""
    if isinstance(value, str):
        return shorten(value)
    if isinstance(value, list):
        return [simplify(item) for item in value]
    if not isinstance(value, dict):
        return value
    found: Object = {key: "<hash>" if key in HASHES and item else simplify(item) for key, item in value.items()}
    conditions = found.get("conditions")
    if isinstance(conditions, list):
        conditions.sort(key=lambda c: str(c.get("type")) if isinstance(c, dict) else "")
    return found
