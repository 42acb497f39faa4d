"""The selection of requests by their attributes and parameters; names that can match nothing are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from fnmatch import fnmatchcase
from typing import Any

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controls.explanation import find, near_resources
from hydrofoil.controls.fault import check_verb
from hydrofoil.controls.record import Record
from hydrofoil.near import suggest

ATTRIBUTES = frozenset(f.name for f in fields(Record)) - {"number", "stamp"}
PATTERN = frozenset("*?[")
"""The characters that make a text a pattern."""


def check_names(where: Mapping[str, Any]) -> None:
    """Raise TypeError for a name that no request has, and ValueError for such a verb: nothing would ever match."""
    for name in where:
        if name not in ATTRIBUTES:
            mend = suggest(name, ATTRIBUTES)
            raise TypeError(f"requests have no {name!r}{mend}; query parameters are given as params={{{name!r}: ...}}")
    if "params" in where and not isinstance(where["params"], Mapping):
        raise TypeError(f"params must be a dict of query parameters, not {where['params']!r}")
    for verb in texts_of(where.get("verb")):
        check_verb(verb)


def check_resources(catalog: Catalog, given: Any) -> None:
    """Raise ValueError for a resource that is not served under that name: requests have its plural.

    A name with a group that nothing serves yet may be that of a definition which comes later.
    """
    groups = {resource.group for resource in catalog.resources()}
    plurals = {resource.plural for resource in catalog.resources()}
    for text in texts_of(given):
        resource = text.partition("/")[0]
        if not resource or PATTERN & set(resource):
            continue
        plural, _, group = resource.partition(".")
        if plural in plurals and (not group or find(catalog, resource) is not None):
            continue
        if group and group not in groups:
            continue
        found = find(catalog, resource)
        near = near_resources(catalog, resource) if found is None else (found.plural,)
        mend = f" ({', '.join(near)}?)" if near else ""
        raise ValueError(f"no resource {resource!r} is served{mend}")


def texts_of(given: Any) -> Sequence[str]:
    """Return the texts of a value: one, or several."""
    values = given if isinstance(given, list | tuple | set | frozenset) else (given,)
    return [value for value in values if isinstance(value, str)]


def matches(record: Record, where: Mapping[str, Any]) -> bool:
    """Report whether a record is as wanted, by names of attributes; `params` has query parameters by name."""
    return all(
        all(met(record, "", record.params.get(key), value) for key, value in wanted.items())
        if name == "params"
        else met(record, name, getattr(record, name), wanted)
        for name, wanted in where.items()
    )


def met(record: Record, name: str, value: Any, wanted: Any) -> bool:
    """Report whether a value is as wanted: a pattern, several of them, None for an absent one, or equal.

    `name` is that of an attribute; empty for a query parameter.
    """
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
    if isinstance(value, str) and not name:
        wanted = str(wanted).lower() if isinstance(wanted, bool) else str(wanted)
    return bool(value == wanted)
