"""The printer columns of a definition: what changes, and which show nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]


def columns_of(definition: Object | None, version: str) -> dict[str, Object]:
    """Return the columns of a version by their names."""
    for one in definition["spec"]["versions"] if definition is not None else ():
        if one["name"] == version:
            return {column["name"]: column for column in one.get("additionalPrinterColumns") or ()}
    return {}


def compare_columns(
    before: Mapping[str, Object], after: Mapping[str, Object], old: Object | None, new: Object
) -> list[Object]:
    """Return a line on each column that comes, goes or changes, with the number of objects where it is empty."""
    found = []
    for version, table in after.items():
        was, now = columns_of(old, version) if version in before else {}, columns_of(new, version)
        for name in [*was, *(name for name in now if name not in was)]:
            change = "removed" if name not in now else "added" if name not in was else ""
            if not change and was[name] != now[name]:
                change = "changed"
            if change:
                column = now.get(name) or was[name]
                empty = count_empty(table, name)
                found.append(
                    {"version": version, "name": name, "jsonPath": column["jsonPath"], "change": change, "empty": empty}
                )
    return found


def count_empty(table: Object, name: str) -> int:
    """Return the number of rows without a value in a column."""
    names = [column["name"] for column in table["columnDefinitions"]]
    if name not in names:
        return 0
    at = names.index(name)
    return sum(cells[at] in (None, "") for cells in table["rows"])
