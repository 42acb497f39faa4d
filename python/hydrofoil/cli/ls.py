"""`hydrofoil ls`: the servers of this user that run."""

from __future__ import annotations

import sys
from typing import Any

import orjson

from hydrofoil.cli.command import Command
from hydrofoil.cli.servers import NONE, STARTS
from hydrofoil.options import Options, boolean, flag
from hydrofoil.server.state_file import RunningServer, running_servers

HEAD = ("PID", "URL", "SINCE", "FOLDER")


class ListOptions(Options):
    """List."""

    json: bool = flag("--json", False, boolean, "print a document in JSON", value="BOOL")


def run(given: dict[str, Any], _words: tuple[str, ...]) -> int:
    """Print the servers; return the exit code."""
    found = running_servers()
    if given["json"]:
        shown = [{name: value for name, value in s._asdict().items() if name != "begun"} for s in found]
        sys.stdout.write(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode() + "\n")
    elif found:
        sys.stdout.write(table(found))
    else:
        sys.stderr.write(f"hydrofoil: {NONE} ({STARTS})\n")
    return 0


def table(servers: list[RunningServer]) -> str:
    """Return the lines of servers, with a head."""
    rows = [HEAD, *((str(s.pid), s.url, s.since.isoformat(sep=" ")[:19], s.folder) for s in servers)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ("   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)


COMMAND = Command(
    "ls",
    (ListOptions,),
    run,
    "List the servers of this user that run: process, URL, start (UTC) and working folder.",
    examples=("hydrofoil ls", "hydrofoil ls --json"),
)
