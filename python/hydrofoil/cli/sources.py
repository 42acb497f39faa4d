"""Where the value of a setting comes from: the command line, the environment, a file, or its default."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hydrofoil.cli.failure import USAGE, Failure
from hydrofoil.go_text import quote
from hydrofoil.options import Flag, Refused, Texts

PREFIX = "HYDROFOIL_"


class Given(NamedTuple):
    """The texts of one flag, one for each time that it is given."""

    texts: Sequence[str]
    place: str = ""
    """The variable or the line of the file; empty for the command line."""
    names: Sequence[str] = ()
    """The names by which the flag is given on the command line."""


def variable(name: str) -> str:
    """Return the environment variable of a flag: `--max-requests-inflight` is `HYDROFOIL_MAX_REQUESTS_INFLIGHT`."""
    return PREFIX + name.lstrip("-").replace("-", "_").upper()


def environment(known: Sequence[Flag]) -> dict[str, Given]:
    """Return the settings of the environment, by their fields."""
    found = {}
    for flag in known:
        for name in flag.names:
            text = os.environ.get(variable(name))
            if text is not None:
                found[flag.setting] = Given((text,), variable(name))
    return found


def value(flag: Flag, given: Given, usage: int = USAGE) -> Any:
    """Return the value of a flag; mappings and texts of a repeated one are merged. Raise Failure."""
    code, before = (USAGE, f"{given.place}: ") if given.place else (usage, "")
    found: Any = type(flag.default)()
    for number, text in enumerate(given.texts):
        shown = given.names[number] if given.names else flag.names[0]
        try:
            one = flag.read(text)
        except Refused as e:
            raise Failure(before + str(e).replace("<flag>", shown), code=code) from None
        except ValueError as e:
            if any(not name.startswith("--") for name in flag.names):
                # pflag shows the short name as well, if there is one.
                shown = ", ".join(flag.names)
            line = f"invalid argument {quote(text)} for {quote(shown)} flag: {e}"
            raise Failure(before + line, code=code) from None
        if number and isinstance(one, dict):
            one = {**found, **one}
        elif number and isinstance(one, Texts):
            one = Texts((*found, *one))
        found = one
    return found


def settle(
    known: Sequence[Flag], line: Mapping[str, Given], file: Mapping[str, Given], usage: int = USAGE
) -> tuple[dict[str, Any], dict[str, Given]]:
    """Return the values of all flags, and the texts of those that are given anywhere. Raise Failure."""
    merged = {**file, **environment(known), **line}
    return {f.setting: value(f, merged[f.setting], usage) if f.setting in merged else f.default for f in known}, merged
