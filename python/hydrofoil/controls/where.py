"""The selection of requests by their attributes and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fnmatch import fnmatchcase
from typing import Any

from hydrofoil.controls.record import Record

ATTRIBUTES = frozenset(f.name for f in fields(Record)) - {"number", "stamp"}


def matches(record: Record, where: Mapping[str, Any]) -> bool:
    """Report whether a record is as wanted: names of attributes, else of query parameters."""
    return all(
        met(record, name, getattr(record, name) if name in ATTRIBUTES else record.params.get(name), wanted)
        for name, wanted in where.items()
    )


def met(record: Record, name: str, value: Any, wanted: Any) -> bool:
    """Report whether a value is as wanted: a pattern, several of them, None for an absent one, or equal."""
    if wanted is None:
        return value is None or value in ("", b"")
    if isinstance(wanted, list | tuple | set | frozenset):
        return any(met(record, name, value, one) for one in wanted)
    if isinstance(wanted, str):
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        values = [str(value) if isinstance(value, int) else value]
        if name == "resource" and value:
            full = f"{value}.{record.group}" if record.group else value
            values += [full, f"{value}/{record.subresource}", f"{full}/{record.subresource}"]
        return any(isinstance(v, str) and fnmatchcase(v, wanted) for v in values)
    if isinstance(value, str) and name not in ATTRIBUTES:
        wanted = str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
    return bool(value == wanted)
