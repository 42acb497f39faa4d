"""`hydrofoil doctor`: checks of this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hydrofoil.cli.checks import CHECKS, Check
from hydrofoil.cli.command import Command
from hydrofoil.cli.failure import WRONG, Failure
from hydrofoil.options import Options, anything, flag
from hydrofoil.server.options import port

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


class DoctorOptions(Options):
    """The subjects of the checks, and the form of the answer."""

    port: int = flag("--port", 8080, port, "the port that the server is to have (default {})", value="PORT")
    cert_dir: str = flag(
        "--cert-dir", "", anything, "the folder of certificates (default ~/.local/state/hydrofoil)", value="DIR"
    )
    json: str = flag("--json", "", anything, "write JSON to this file; alone or '-': print it", value="[FILE]")


def run_checks(given: dict[str, Any]) -> list[Check]:
    """Return all checks; one that breaks off fails alone."""
    found = []
    for name, check in CHECKS.items():
        try:
            found.append(check(given)._replace(check=name))
        except Exception as e:
            # A machine may be broken in any way, and the other checks are still of interest.
            found.append(Check("fail", f"{type(e).__name__}: {e}", "report this", name))
    return found


def run(given: dict[str, Any], _words: tuple[str, ...]) -> int:
    """Print the checks; return the exit code."""
    found = run_checks(given)
    if given["json"]:
        import json

        members = [{"check": c.check, "status": c.status, "message": c.message, "mend": c.mend} for c in found]
        write(given["json"], json.dumps({"checks": members}, indent=1) + "\n")
    if given["json"] != "-":
        import click

        for check in found:
            mend = f" ({check.mend})" if check.mend else ""
            status = click.style(f"{check.status:4}", COLOURS[check.status])
            click.echo(f"{status}  {check.check:12}  {check.message}{mend}", color=colours())
    return WRONG if any(check.status == "fail" for check in found) else 0


def colours() -> bool:
    """Report whether the standard output shows colours (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def write(path: str, text: str) -> None:
    """Write a result to a file; `-` is the standard output. Raise Failure."""
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text)
    except OSError as e:
        raise Failure(f"cannot write {path}: {e.strerror or e}", "--json takes a file", WRONG) from None


COMMAND = Command(
    "doctor", [DoctorOptions], run, "Check this machine, and say what to mend.", examples=("hydrofoil doctor --json",)
)
