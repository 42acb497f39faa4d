"""Placeholders for values that differ from run to run: times, uids, versions, tokens, generated names."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from typing import Any

from tests.conformance.replay.paths import Object, drop, lookup, member, split

MANAGED = (
    *("metadata", "items.*.metadata", "*.object.metadata", "rows.*.object.metadata", "*.object.rows.*.object.metadata"),
    *("<cbor>.metadata", "<cbor>.items.*.metadata", "<cbor>.rows.*.object.metadata"),
    *("*.object.<cbor>.metadata", "*.object.<cbor>.rows.*.object.metadata"),
)
"""The places of `managedFields`."""
TIME = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$")
AGE = re.compile(r"^(\d+[smhdy]){1,2}$")
CAUSES = re.compile(r"is invalid: \[.*\]$", re.DOTALL)
PATTERNS = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"(?<=, current: )\d+|(?<=in record \()\d+|(?<=version: 1 \()\d+"), "<rv>"),
    (re.compile(r"\b[0-9A-F]{128}\b"), "<hash>"),
    (re.compile(r"(?<=X509SHA256=)[0-9a-f]{64}"), "<hash>"),
    (re.compile(r"(?<=^kube-api-access-)[a-z0-9]{5}$"), "<generated>"),
)
DAY = 86400


def recent(text: str) -> bool:
    """Report whether a time is one of this run: those that scenarios send are years back."""
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    return abs(time.time() - moment.timestamp()) < 400 * DAY and moment.year > 2001


def normalise(value: Any, names: dict[str, str], key: str = "") -> Any:
    """Return a value with placeholders; `names` maps texts of this run to theirs, `key` is the member of the value."""
    if isinstance(value, dict):
        value = {k: normalise(v, names, k) for k, v in value.items()}
        details = value.get("details")
        if isinstance(details, dict) and len(details.get("causes") or []) > 1:  # the message repeats the causes
            value["message"] = CAUSES.sub("is invalid: [<causes>]", value["message"])
        return value
    if isinstance(value, list):
        items = [normalise(v, names, key) for v in value]
        if key in ("managedFields", "causes"):  # in the order of their times, and in no order
            items.sort(key=lambda entry: json.dumps(entry, sort_keys=True))
        return items
    if isinstance(value, int) and not isinstance(value, bool):
        return "<time>" if abs(time.time() - value) < DAY else value
    return _text(value, names, key) if isinstance(value, str) else value


def _text(value: str, names: dict[str, str], key: str) -> str:
    if key == "resourceVersion" and value.isdigit():
        return value if value == "0" else "<rv>"
    if key == "continue" and value:
        return "<continue>"
    if key == "cells" and AGE.match(value):
        return "<age>"
    if key == "etag":
        return "<etag>"
    if (match := TIME.match(value)) and recent(match[1]):
        return "<time>" if not match[2] else f"<time.{len(match[2]) - 1}>"
    for pattern, placeholder in PATTERNS:
        value = pattern.sub(placeholder, value)
    for real in sorted(names, key=len, reverse=True):
        value = value.replace(real, names[real])
    return value


def prepare(answer: Object, step: Object, names: dict[str, str], checks: dict[str, bool]) -> Object:
    """Return the part of an answer that a step compares, with placeholders and the outcome of its checks."""
    answer = normalise(json.loads(json.dumps(answer)), names)
    ignored = list(step.get("ignore", []))
    if not step.get("managed"):
        ignored += [f"{path}.managedFields" for path in MANAGED]
    for path in ignored:
        drop(answer["body"], split(path))
    for path in step.get("sort", []):
        value = lookup(answer["body"], path)
        for items in value if path.count("*") and isinstance(value, list) else [value]:
            if isinstance(items, list):
                items.sort(key=lambda item: json.dumps(item, sort_keys=True))
    only = step.get("only") or list(step.get("expect", {}))
    if only:
        answer = {name: member(answer, name) for name in only}
    return {**answer, "checks": checks} if checks else answer
