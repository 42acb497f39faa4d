"""Query parameters, checked as upstream checks them."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl

import orjson
from msgspec import Struct

from hydrofoil import engine
from hydrofoil.errors import Cause, bad_request, invalid
from hydrofoil.go_text import explain_duration, quote

Params = dict[str, str]
BETWEEN = "\0"
"""The character between the values of a list, which none of them that is valid has."""


def parse(query: str) -> Params:
    """Return the first value of each parameter; of the list `dryRun` all (see `listed`)."""
    out: Params = {}
    if query:
        for key, value in parse_qsl(query, keep_blank_values=True):
            if key == "dryRun" and key in out:
                out[key] += f"{BETWEEN}{value}"
            out.setdefault(key, value)
    return out


def split_list(params: Params, name: str) -> list[str]:
    """Return the values of a list; it is empty if its only value is."""
    given = params.get(name)
    return given.split(BETWEEN) if given else []


def dry_run_causes(values: list[str]) -> list[Cause]:
    """Return the errors of a list `dryRun`."""
    if all(value == "All" for value in values):
        return []
    shown = orjson.dumps(values).decode()
    return [("FieldValueNotSupported", f'Unsupported value: {shown}: supported values: "All"', "dryRun")]


def is_true(value: str) -> bool:
    """Report whether a text is true: anything but `false` and `0`, empty included."""
    return value.lower() not in ("false", "0")


def truth(params: Params, name: str) -> bool:
    """Report whether a boolean parameter is there and true."""
    value = params.get(name)
    return value is not None and is_true(value)


def _number(digits: str) -> int | None:
    """Return the number for digits with an optional sign; None for more digits than Python reads."""
    sign = "-" if digits[:1] == "-" else ""
    digits = digits.lstrip("+-").lstrip("0") or "0"
    return int(sign + digits) if len(digits) <= 20 else None


def integer(params: Params, name: str) -> int | None:
    """Return a number, None if absent. Raise ApiError 400 with Go's message."""
    value = params.get(name)
    if value is None:
        return None
    digits = value[1:] if value[:1] in ("-", "+") else value
    if not (digits.isascii() and digits.isdigit()):
        raise bad_request(f'strconv.ParseInt: parsing "{value}": invalid syntax')
    number = _number(value)
    if number is None or not -(2**63) <= number < 2**63:
        raise bad_request(f'strconv.ParseInt: parsing "{value}": value out of range')
    return number


class ListOptions(Struct):
    """The options of a list or watch."""

    labels: str
    fields: str
    limit: int
    token: str
    revision: int | None
    match: str
    watch: bool
    bookmarks: bool
    initial_events: bool | None
    timeout: int | None
    marked: bool = True
    """Whether a bookmark ends initial events that the request did not ask for."""


def list_options(
    params: Params,
    *,
    watch: bool,
    selectors: Callable[[ListOptions], object] | None = None,
    streams: bool = True,
) -> ListOptions:
    """Read and check ListOptions (RV-15 to RV-26, WA-21, WA-24); `streams`: watches may begin with initial events.

    Syntax errors are reported first: `selectors` reads the selectors, and raises ApiError 400.
    """
    timeout = integer(params, "timeoutSeconds")
    options = ListOptions(
        labels=params.get("labelSelector", ""),
        fields=params.get("fieldSelector", ""),
        limit=integer(params, "limit") or 0,
        token=params.get("continue", ""),
        revision=None,
        match=params.get("resourceVersionMatch", ""),
        watch=watch,
        bookmarks=truth(params, "allowWatchBookmarks"),
        initial_events=truth(params, "sendInitialEvents") if "sendInitialEvents" in params else None,
        timeout=timeout,
    )
    version = params.get("resourceVersion", "")
    causes = _watch_causes(options, streams=streams) if watch else _list_causes(options, version)
    if selectors is not None and (causes or (version and (options.token or not version.isdigit()))):
        selectors(options)
    if causes:
        raise invalid("meta.k8s.io", "ListOptions", "", causes)
    if version and not watch and options.token:
        # The storage judges both, and the token first (`storage.ValidateListOptions`).
        place(options.token)
        if version != "0":
            raise bad_request("specifying resource version is not allowed when using continue")
    if version:
        options.revision = revision(version)
    return options


def place(token: str) -> tuple[int, str]:
    """Return the resource version, negative for the present one, and the key of a continue token.

    Raise ApiError 400.
    """
    try:
        return engine.decode_continue(token)
    except ValueError as e:
        raise bad_request(f"invalid continue token: {e}") from None


def revision(version: str) -> int:
    """Return the resource version of a request. Raise ApiError 400."""
    number = _number(version) if version.isascii() and version.isdigit() else None
    if number is not None and number < 2**64:
        return number
    what = "value out of range" if version.isascii() and version.isdigit() else "invalid syntax"
    text = f'Invalid value: "{version}": strconv.ParseUint: parsing "{version}": {what}'
    raise bad_request(f"invalid resource version: resourceVersion: {text}")


_MATCH = "resourceVersionMatch"


def _forbidden(field: str, why: str) -> Cause:
    return ("FieldValueForbidden", f"Forbidden: {why}", field)


def _unknown_match(match: str) -> Cause:
    text = f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan", ""'
    return ("FieldValueNotSupported", text, _MATCH)


def _list_causes(options: ListOptions, version: str) -> list[Cause]:
    causes: list[Cause] = []
    match = options.match
    if match and not version:
        why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        causes.append(_forbidden(_MATCH, why))
    if match and options.token:
        causes.append(_forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    if match not in ("", "Exact", "NotOlderThan"):
        causes.append(_unknown_match(match))
    if match == "Exact" and version == "0":
        causes.append(_forbidden(_MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    if options.initial_events is not None:
        causes.append(_forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return causes


def _watch_causes(options: ListOptions, *, streams: bool) -> list[Cause]:
    causes: list[Cause] = []
    match = options.match
    if options.initial_events is not None and match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(_forbidden(_MATCH, why))
    if options.initial_events is not None and not streams:
        why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
        causes.append(_forbidden("sendInitialEvents", why))
    if options.token and not match:
        causes.append(_forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    if match:
        if options.initial_events is None:
            why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            causes.append(_forbidden(_MATCH, why))
        if match != "NotOlderThan":
            text = f'Unsupported value: "{match}": supported values: "NotOlderThan"'
            causes.append(("FieldValueNotSupported", text, _MATCH))
        if options.token:
            causes.append(_forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    return causes


class WriteOptions(Struct):
    """The options of a write."""

    dry_run: bool
    field_manager: str
    field_validation: str


_LEVELS = ("", "Ignore", "Strict", "Warn")


def write_options(params: Params, kind: str, *, patch: str = "") -> WriteOptions:
    """Read and check Create-, Update- or, for a kind of patch, PatchOptions (DRY-06, DRY-07, FV-10)."""
    if not params and not patch.startswith("apply"):
        return WriteOptions(False, "", "Warn")
    causes: list[Cause] = []
    manager = params.get("fieldManager", "")
    if patch.startswith("apply"):
        if not manager:
            causes.append(("FieldValueRequired", "Required value: is required for apply patch", "fieldManager"))
    elif patch and "force" in params:
        causes.append(_forbidden("force", "may not be specified for non-apply patch"))
    if len(manager.encode()) > 128:
        causes.append(("FieldValueTooLong", "Too long: may not be more than 128 bytes", "fieldManager"))
    for i, c in enumerate(manager):
        if not c.isprintable():
            at = len(manager[:i].encode())
            text = f"Invalid value: {quote(manager)}: invalid character U+{ord(c):04X} (at position {at})"
            causes.append(("FieldValueInvalid", text, "fieldManager"))
    dry_run = split_list(params, "dryRun")
    causes += dry_run_causes(dry_run)
    level = params.get("fieldValidation", "")
    if level not in _LEVELS:
        text = f'Unsupported value: "{level}": supported values: "", "Ignore", "Strict", "Warn"'
        causes.append(("FieldValueNotSupported", text, "fieldValidation"))
    if causes:
        raise invalid("meta.k8s.io", kind, "", causes)
    return WriteOptions(bool(dry_run), manager, level or "Warn")


def timeout(params: Params) -> float | None:
    """Return `?timeout=` in seconds. Raise ApiError 400."""
    text = params.get("timeout")
    if not text:
        return None
    seconds = engine.duration(text)
    if seconds is None:
        raise bad_request(f"invalid timeout specified in the request URL - time: {explain_duration(text)}")
    return seconds if seconds > 0 else None
