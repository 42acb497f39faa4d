"""`hydrofoil version`: what this program is, and the API that it serves."""

from __future__ import annotations

import sys
from typing import Any

import orjson

from hydrofoil import __version__
from hydrofoil.apis.releases.data import minors
from hydrofoil.cli.command import Command
from hydrofoil.options import Options, boolean, flag


class VersionOptions(Options):
    """Version."""

    json: bool = flag("--json", False, boolean, "print a document in JSON", value="BOOL")


def run(given: dict[str, Any], _words: tuple[str, ...]) -> int:
    """Print the versions; return the exit code."""
    oldest, newest = minors()[0], minors()[-1]
    found = {
        "version": __version__,
        "kubernetes": f"1.{newest}",
        "emulated": [f"1.{minor}" for minor in range(oldest, newest + 1)],
        "python": ".".join(map(str, sys.version_info[:3])),
    }
    if given["json"]:
        sys.stdout.write(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        sys.stdout.write(f"hydrofoil {__version__}\nkubernetes 1.{newest} (--emulated-version from 1.{oldest} on)\n")
    return 0


COMMAND = Command("version", (VersionOptions,), run, "Print the versions of this program and of the API.")
