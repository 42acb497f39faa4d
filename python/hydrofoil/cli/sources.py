"""Where the value of a setting comes from: the command line, the environment, a file, or its default."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hydrofoil.cli.failure import USAGE, Failure
from hydrofoil.go_text import quote
from hydrofoil.near import suggest
from hydrofoil.options import Flag, Refused, Texts

PREFIX = "HYDROFOIL_"
OTHERS = frozenset(f"{PREFIX}{name}" for name in ("BINARIES", "CI", "KIT_ON_ETCD", "MONTH", "TURN_MS"))
"""Variables that are not those of flags: of the tests."""


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


def name_unknown_variables(known: Sequence[Flag], others: Callable[[], Iterable[Flag]]) -> None:
    """Write a line on each variable that looks like one of a flag, and is none of any command.

    `others` gives the flags of all commands: their variables may be set for all of them.
    """
    names = {name for name in os.environ if name.startswith(PREFIX)}
    names -= {variable(name) for flag in known for name in flag.names} | OTHERS
    if not names:
        return
    every = {variable(name) for flag in others() for name in flag.names}
    for name in sorted(names - every):
        mend = suggest(name, every)
        sys.stderr.write(f"hydrofoil: {name} is the variable of no flag, and is ignored{mend}\n")


def value(flag: Flag, given: Given, usage: int = USAGE) -> Any:
    """Return the value of a flag; mappings and texts of a repeated one are merged. Raise Failure."""
    code, before = (USAGE, f"{given.place}: ") if given.place else (usage, "")
    found: Any = type(flag.default)()
    for number, text in enumerate(given.texts):
        shown = given.names[number] if given.names else flag.names[0]
        try:
            one = flag.read(text)
        except (Refused, ValueError) as e:
            if code == USAGE:
                from hydrofoil.cli.plain import refusal

                raise Failure(
                    before + refusal(shown, text, str(e), allowed=isinstance(e, Refused)), code=code
                ) from None
            if isinstance(e, Refused):
                raise Failure(str(e).replace("<flag>", shown), code=code) from None
            if any(not name.startswith("--") for name in flag.names):
                # pflag shows the short name as well, if there is one.
                shown = ", ".join(flag.names)
            line = f"invalid argument {quote(text)} for {quote(shown)} flag: {e}"
            raise Failure(line, code=code) from None
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
