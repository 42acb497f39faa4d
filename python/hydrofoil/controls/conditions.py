"""The conditions that a test waits for: words, kubectl's forms, and functions (kubectl `pkg/cmd/wait`)."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any

import orjson

from hydrofoil import engine

State = dict[str, Any] | None
"""An object; None: there is none."""
Condition = str | Callable[[dict[str, Any]], object]
"""One of `FORMS`, or a function of the object."""
FORMS = "exists, deleted, TYPE[=STATUS], condition=TYPE[=STATUS], jsonpath={PATH}[=VALUE]"
"""`create` and `delete` are kubectl's words for the first two."""
EXISTS, DELETED = ("exists", "create"), ("deleted", "delete")
TYPE = re.compile(r"(?:[\w.-]+/)?[A-Za-z][\w.-]*")
"""The type of a condition, maybe with a domain."""
STATUSES = ("true", "false", "unknown")
PATH = re.compile(r"jsonpath='?\{(.*)\}'?(?:=(.*))?", re.DOTALL)
"""A path in braces, and the value that it must have."""


def check_condition(condition: Condition) -> None:
    """Raise ValueError for a text that is no condition: it would be waited for in vain."""
    if not isinstance(condition, str) or condition in (*EXISTS, *DELETED):
        return
    if (path := PATH.fullmatch(condition)) is not None:
        engine.json_path(path[1], b"{}")
    elif _parse(condition) is None:
        raise ValueError(f"no condition {condition!r}: it is one of {FORMS}, or a function of the object")


def _parse(condition: str) -> tuple[str, str] | None:
    """Return type and status of a condition of kubectl's form, or of its short form; None for any other text."""
    full = condition.removeprefix("condition=")
    kind, equals, wanted = full.partition("=")
    if not TYPE.fullmatch(kind) or (equals and not wanted):
        return None
    if full == condition and equals and wanted.lower() not in STATUSES:
        return None
    return kind, wanted or "True"


def holds(condition: Condition, state: State) -> bool:
    """Report whether a state meets a condition.

    A function that looks at a member which is not there yet is not met yet: most objects get their status later.
    """
    if condition in DELETED:
        return state is None
    if state is None:
        return False
    if not isinstance(condition, str):
        try:
            return bool(condition(state))
        except LookupError:
            return False
        except TypeError as e:
            if "'NoneType' object" in str(e):
                return False
            raise
    if condition in EXISTS:
        return True
    if path := PATH.fullmatch(condition):
        return _has_value(path[1], path[2], state)
    parsed = _parse(condition)
    assert parsed is not None, "conditions are checked before"
    kind, wanted = parsed
    status = state.get("status")
    found = status.get("conditions") if isinstance(status, dict) else None
    return any(
        isinstance(c, dict)
        and str(c.get("type", "")).lower() == kind.lower()
        and str(c.get("status", "")).lower() == wanted.lower()
        for c in found or ()
    )


def _has_value(path: str, wanted: str | None, state: dict[str, Any]) -> bool:
    """Report whether a path has a value: texts as they are, others as JSON; any at all without one that is wanted."""
    found = engine.json_path(path, orjson.dumps(state))
    if found is None or wanted is None:
        return found is not None
    value = orjson.loads(found)
    return (value if isinstance(value, str) else found.decode()) == wanted


def condition_text(condition: Condition) -> str:
    """Return the text of a condition: of a lambda its source."""
    if isinstance(condition, str):
        return condition
    name = getattr(condition, "__name__", "")
    return _lambda_text(condition) if name == "<lambda>" else name or repr(condition)


def _lambda_text(condition: Callable[..., object]) -> str:
    """Return the source of a lambda, cut at the end of its expression; its name if there is no source."""
    try:
        lines, _ = inspect.getsourcelines(condition)
    except (OSError, TypeError):
        return "<lambda>"
    text = " ".join(line.strip() for line in lines)
    text = text[text.find("lambda") :]
    # The line goes on behind the expression: the longest beginning that is a lambda is the condition.
    for end in range(len(text), 0, -1):
        try:
            found = ast.parse(text[:end], mode="eval").body
        except SyntaxError:
            continue
        if isinstance(found, ast.Lambda):
            # Without a comment behind it.
            return ast.get_source_segment(text[:end], found) or "<lambda>"
    return "<lambda>"


def phrase(condition: str) -> str:
    """Return what an object did not do that was waited for in vain."""
    if condition in EXISTS:
        return "did not exist"
    if condition in DELETED:
        return "was not deleted"
    if condition.startswith(("lambda", "<lambda")):
        return f"did not meet `{condition}`"
    return f"was not {condition}"
