"""Placeholders in the answers of a corpus: values that were sent stay, others of a run do not."""

from __future__ import annotations

import re
from typing import Any

from tests.conformance.replay.paths import Object

TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| \+0000 UTC)(?: m=[+\d.]+)?")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
DURATION = re.compile(r"(\d+[smhdy])+")
AGES = ("Age", "Last Seen", "First Seen", "LastSeen", "Last Schedule", "Duration", "Created At")
"""Columns with the time since an event."""


def normalise(value: Any, request: str, prefix: str | None = None, key: str = "") -> Any:
    """Return a value with placeholders.

    `request` is the text that was sent, `prefix` the beginning of a generated name, `key` the member of the value.
    """
    if isinstance(value, dict):
        return {name: _member(name, item, request, prefix) for name, item in value.items()}
    if isinstance(value, list):
        return [normalise(item, request, prefix, key) for item in value]
    return _text(value, request, prefix, key) if isinstance(value, str) else value


def _member(name: str, item: Any, request: str, prefix: str | None) -> Any:
    if name in ("uid", "resourceVersion") and isinstance(item, str) and item not in ("", "0"):
        if f'"{item}"' not in request:
            return f"<{name}>"
    elif name in ("nodePort", "healthCheckNodePort") and item and not re.search(rf"\b{item}\b", request):
        return "<port>"
    elif name == "token" and isinstance(item, str) and item.count(".") == 2:
        return "<token>"
    return normalise(item, request, prefix, name)


def _text(value: str, request: str, prefix: str | None, key: str) -> str:
    if prefix:
        value = re.sub(re.escape(prefix) + r"[a-z0-9]{5}\b", prefix + "<random>", value)
    value = TIME.sub(lambda m: m[0] if m[0] in request else "<time>", value)
    value = UID.sub(lambda m: m[0] if m[0] in request else "<uid>", value)
    if "esourceVersion" in value:  # an object, or a precondition, quoted in a message
        value = re.sub(r'(resourceVersion\\*":\\*")\d+', r"\1<resourceVersion>", value)
        value = re.sub(r"(ResourceVersion in [a-z ]+[(:] ?)\d+", r"\1<resourceVersion>", value)
    if "lusterIP" in value or "odePort" in value:
        address = re.compile(r'(clusterIPs?\\*":\[?\\*")([\d.]+)')
        value = address.sub(lambda m: m[0] if m[2] in request else m[1] + "<address>", value)
        value = re.sub(r'(odePort\\*":)(\d+)', lambda m: m[0] if m[2] in request else m[1] + "<port>", value)
    if key == "audiences" and value.startswith("http") and value not in request:
        return "<issuer>"
    if key in ("clusterIP", "clusterIPs") and value not in ("", "None") and f'"{value}"' not in request:
        return "<address>"
    return value


def hide_cells(table: Object, request: str) -> None:
    """Replace cells with the time since an event, or an allocated address or port; descriptions are removed."""
    for index, column in enumerate(table.get("columnDefinitions") or []):
        column.pop("description", None)
        for row in table.get("rows") or []:
            if isinstance(row["cells"][index], str):
                row["cells"][index] = _cell(column["name"], row["cells"][index], request)


def _cell(column: str, cell: str, request: str) -> str:
    cell = re.sub(r"\((\d+[smhdy])+ ago\)", "(<age> ago)", cell)
    if column in AGES and DURATION.fullmatch(cell):
        return "<age>"
    if column == "Cluster-IP" and re.fullmatch(r"[\d.]+", cell) and cell not in request:
        return "<address>"
    if column == "Port(s)":
        return re.sub(r":(\d+)/", lambda m: m[0] if m[1] in request else ":<port>/", cell)
    return cell
