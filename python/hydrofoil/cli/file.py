"""`--config FILE`: a map of flags in YAML, read and written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hydrofoil.cli.failure import Failure
from hydrofoil.cli.sources import Given
from hydrofoil.near import near
from hydrofoil.options import Flag, Refused, Texts, texts

PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "y", "n", "null"))
LINE = re.compile(r"line (\d+): ")
START = re.compile(rb"""(["']?)([\w.-]+)\1\s*:""")
NAMED = re.compile(rb"^(yes|no|on|off|y|n)(\s*:)", re.MULTILINE)
"""Names of flags that YAML would read as booleans."""
SECRET = frozenset(("token",))
"""Flags whose value is never shown."""


def read(path: str, known: Sequence[Flag], command: str) -> dict[str, Given]:
    """Return the settings of a file. Raise Failure with the line."""
    import orjson

    from hydrofoil import engine

    try:
        text = Path(path).read_bytes()
    except OSError as e:
        raise Failure(f"{path}: {e.strerror or e}", "--config takes a file in YAML") from None
    try:
        content = orjson.loads(engine.yaml_to_json(NAMED.sub(rb'"\1"\2', text))) if text.strip() else None
    except (ValueError, engine.DecodeError) as e:
        why = str(e).removeprefix("error converting YAML to JSON: yaml: ")
        where = LINE.match(why)
        # Upstream's words have lines of their own counting.
        number = engine.yaml_fault_line(text) or (where and where[1])
        why = why[where.end() :] if where else why
        at = f"{path}:{number}: {why}" if number else f"{path}: {why}"
        raise Failure(at, "a map of flags without dashes") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise Failure(f"{path}:1: no map", "a map of flags without dashes, such as port: 0")
    if twice := again(text, content):
        raise Failure(f'{path}:{twice[1]}: "{twice[0]}" is there twice', "one line for each flag")
    names = {name.lstrip("-"): flag for flag in known for name in flag.names}
    found = {}
    for name, value in content.items():
        at = f"{path}:{line(text, name)}"
        flag = names.get(name)
        if flag is None:
            raise Failure(f'{at}: no flag "{name}"', near(name, names) or f"hydrofoil {command} --help")
        if isinstance(value, list | dict) and isinstance(flag.default, int | float):
            raise Failure(f"{at}: {name} has one value", f"such as {name}: {texts(flag, flag.default)[0]}")
        if value is not None:
            found[flag.setting] = Given(texts(flag, value), at)
    return found


def again(text: bytes, names: Iterable[str]) -> tuple[str, int] | None:
    """Return the first name that begins two lines, and the number of the second one."""
    seen: set[str] = set()
    for number, words in enumerate(text.splitlines(), 1):
        if (found := START.match(words)) is None:
            continue
        name = found[2].decode(errors="replace")
        if name in seen and name in names:
            return name, number
        seen.add(name)
    return None


def line(text: bytes, name: str) -> int:
    """Return the number of the line where a name of a map is; 1 if it is not at the start of any line."""
    start = re.compile(rb"""["']?""" + re.escape(name.encode()) + rb"""["']?\s*:""")
    for number, words in enumerate(text.splitlines(), 1):
        if start.match(words):
            return number
    return 1


def render_settings(known: Sequence[Flag], values: Mapping[str, Any], given: Mapping[str, Given]) -> str:
    """Return the settings as such a file."""
    return "".join(f"{name}: {value}\n" if value else f"# {name}\n" for name, value in _lines(known, values, given))


def _lines(
    known: Sequence[Flag], values: Mapping[str, Any], given: Mapping[str, Given]
) -> Iterator[tuple[str, str | None]]:
    """Yield names and values; None for a flag whose default has no text, or whose value is secret."""
    for flag in known:
        name = next((name for name in flag.names if name.startswith("--")), flag.names[0]).lstrip("-")
        if name in SECRET:
            yield name, None
        elif flag.setting in given and values[flag.setting] != {}:
            parts = list(given[flag.setting].texts)
            repeated = isinstance(flag.default, tuple | dict) and len(parts) != 1
            yield name, f"[{', '.join(map(scalar, parts))}]" if repeated else parse_scalar(flag, parts[-1])
        else:
            yield name, default(flag, values[flag.setting])


def default(flag: Flag, value: Any) -> str | None:
    """Return the default of a flag as YAML, None if there is no text for it."""
    if isinstance(value, Texts) and not value:
        return "[]"
    if isinstance(value, dict) and not value:
        return "{}"
    if isinstance(value, tuple) and not isinstance(value, Texts):
        text = "-".join(map(str, value))
    elif isinstance(value, float):
        text = f"{value:g}s" if flag.value == "DURATION" else f"{value:g}"
    else:
        text = ",".join(value) if isinstance(value, tuple) else texts(flag, value)[0]
    try:
        same = flag.read(text) == value
    except (ValueError, Refused):
        return None
    return parse_scalar(flag, text) if same else None


def parse_scalar(flag: Flag, text: str) -> str:
    """Return a text as a boolean, a number or a string of YAML."""
    if isinstance(flag.default, bool) or (
        isinstance(flag.default, int | float) and re.fullmatch(r"-?[1-9]\d*|0", text)
    ):
        return text
    return "[]" if flag.value == "LIST" and not text else scalar(text)


def scalar(text: str) -> str:
    """Return a string of YAML, quoted where another reader could take it for something else."""
    if PLAIN.fullmatch(text) and text.lower() not in WORDS:
        return text
    import json

    return json.dumps(text)
