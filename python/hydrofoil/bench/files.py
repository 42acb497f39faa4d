"""Files of results."""

from __future__ import annotations

import sys
from pathlib import Path

from hydrofoil.bench.failure import Stopped


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
