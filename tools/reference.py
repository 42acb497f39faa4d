"""The reference of the flags, made from their declarations: `python -m tools.reference > docs/flags.md`."""

from __future__ import annotations

import sys

from hydrofoil.options import flags
from hydrofoil.server.config import ROOMS


def reference() -> str:
    """Return a table of flags for each package."""
    source = "Made from the declarations in each room's `options.py` (`make docs`)."
    lines = ["# Flags of `hydrofoil serve`", "", source]
    for room in ROOMS:
        title = (room.__doc__ or "").rstrip(".")
        lines += ["", f"## {title}", "", "| flag | value | what it does |", "| --- | --- | --- |"]
        for flag in flags(room):
            names = ", ".join(f"`{name}`" for name in flag.names)
            value, text = flag.value.replace("|", "\\|"), flag.help.format(flag.default)
            lines.append(f"| {names} | `{value}` | {text} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(reference())
