"""Files of results."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hydrofoil.bench.failure import REFUSED, Stopped


def writable(json: str, report: str, csv: str = "") -> None:
    """Raise Stopped if the files of results cannot be written: a run may take long."""
    for flag, name in (("--json", json), ("--report", report), ("--csv", csv)):
        path = Path(name)
        if name in ("", "-"):
            continue
        if not path.parent.is_dir():
            raise Stopped(f"{flag} {name}: no such folder", f"{flag} takes a file in a folder that exists", REFUSED)
        if path.is_dir():
            raise Stopped(f"{flag} {name}: is a directory", f"{flag} takes a file", REFUSED)
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise Stopped(f"{flag} {name}: permission denied", f"{flag} takes a file that you may write", REFUSED)


def save(path: str, data: bytes, flag: str) -> None:
    """Write a result to a file; - is the standard output. Raise Stopped."""
    if path == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(path).write_bytes(data)
    except OSError as e:
        raise Stopped(f"cannot write {path}: {e.strerror or e}", f"{flag} takes a file") from None
