"""The objects of a rehearsal: of a dump, or of a running server, which is only read."""

from __future__ import annotations

import asyncio
import gc
import logging
import tempfile
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import uvloop

from hydrofoil.cli.access import AccessOptions
from hydrofoil.cli.apply import read as read_files
from hydrofoil.cli.dumps.live import export_live
from hydrofoil.cli.dumps.progress import progress
from hydrofoil.cli.dumps.recording import LARGEST
from hydrofoil.cli.failure import USAGE, Failure
from hydrofoil.cli.rehearse.report import Report
from hydrofoil.controls.documents import Document
from hydrofoil.dumps.manifest import DumpError
from hydrofoil.dumps.names import Selection
from hydrofoil.options import Options, anything, boolean, flag
from hydrofoil.server.dumped_log import Contents, read_dump


class RehearsalOptions(Options):
    """Rehearsal."""

    from_dump: str = flag(
        "--from",
        "",
        anything,
        "the objects: of hydrofoil export, or what hydrofoil import takes (default those of the server)",
        value="DUMP",
    )
    as_json: bool = flag("--json", False, boolean, "print all of the result as JSON", value="BOOL")
    webhooks: bool = flag(
        "--webhooks", False, boolean, "call webhooks, with dry runs; without it, none is called", value="BOOL"
    )


def run_rehearsal(work: Coroutine[Any, Any, Report], given: Mapping[str, Any]) -> int:
    """Run a rehearsal, and print what it finds; return the exit code. Raise Failure."""
    # Objects of a dump have no circles: looking for some takes a fifth of the time.
    gc.disable()
    # What the copy would warn of is in the report.
    logging.getLogger("hydrofoil").setLevel(logging.ERROR)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work).write(as_json=given["as_json"])


def read_contents(given: Mapping[str, Any]) -> Contents:
    """Return the objects of the dump, or of the server, that the flags name. Raise Failure."""
    options = RehearsalOptions.pick(given)
    access = AccessOptions.pick(given)
    try:
        if options.from_dump:
            if access.server or access.kubeconfig or access.context:
                raise Failure("--from and a server exclude each other", "a rehearsal has one source")
            return read_dump(options.from_dump)
        with tempfile.TemporaryDirectory(prefix="hydrofoil-rehearse-") as folder:
            place = str(Path(folder) / "dump")
            take_dump(access, place)
            return read_dump(place)
    except DumpError as e:
        raise Failure(str(e), code=USAGE) from None
    except OSError as e:
        raise Failure(f"{e.filename or 'the objects'}: {(e.strerror or str(e)).lower()}", code=USAGE) from None


def take_dump(options: AccessOptions, place: str) -> None:
    """Export the objects of a server by its lists. Raise Failure, whose code says that nothing was rehearsed."""
    try:
        with progress() as bar:
            export_live(options, place, Selection((), ()), bar)
    except Failure as e:
        # Exit code 1 is that of a change that would break something.
        raise Failure(str(e).removesuffix(f" ({e.mend})"), e.mend, USAGE) from None


def read_documents(paths: Sequence[str]) -> list[Document]:
    """Return the objects of files and folders. Raise Failure."""
    try:
        found = read_files(paths)
    except Failure as e:
        raise Failure(
            str(e).removesuffix(f" ({e.mend})"), "it takes files and folders, - is the standard input"
        ) from None
    if not found:
        raise Failure(f"no objects in {', '.join(paths)}", "files end in .yaml, .yml or .json")
    return found


def read_change(words: Sequence[str], *, log_first: bool = False) -> tuple[list[Document], str]:
    """Return the objects of files, and the path of the audit log among them; empty if there is none.

    `log_first`: the first word is the log, whatever it has. Raise Failure.
    """
    logs = [word for at, word in enumerate(words) if (log_first and not at) or is_audit_log(word)]
    if len(logs) > 1:
        raise Failure(f"{logs[0]} and {logs[1]} are audit logs", "a rehearsal has one")
    files = [word for word in words if word not in logs]
    return read_documents(files) if files else [], logs[0] if logs else ""


def is_audit_log(place: str) -> bool:
    """Report whether a file begins with an audit event on a line of its own."""
    try:
        with Path(place).open("rb") as file:
            line = file.readline(LARGEST + 1)
            while line and not line.strip():
                line = file.readline(LARGEST + 1)
        content = orjson.loads(line)
    except (OSError, ValueError):
        return False
    is_event = isinstance(content, dict) and content.get("kind") == "Event"
    return is_event and str(content.get("apiVersion")).startswith("audit.k8s.io/")
