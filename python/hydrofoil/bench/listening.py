"""The processes of this machine that listen at a port, from /proc."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

LISTEN = "0A"


def listeners(port: int, root: Path = Path("/proc")) -> tuple[int, ...]:
    """Return the processes that listen at a port; none where others may not look, or there is no /proc."""
    sockets = {f"socket:[{inode}]" for table in ("tcp", "tcp6") for inode in inodes(root / "net" / table, port)}
    return tuple(sorted(pid for pid in numbers(root) if sockets & opened(root / str(pid) / "fd"))) if sockets else ()


def inodes(table: Path, port: int) -> set[str]:
    """Return the inodes of the sockets of a table that listen at a port."""
    found: set[str] = set()
    try:
        lines = table.read_text().splitlines()[1:]
    except OSError:
        return found
    for words in map(str.split, lines):
        if words[3] == LISTEN and int(words[1].rpartition(":")[2], 16) == port:
            found.add(words[9])
    return found


def numbers(root: Path) -> list[int]:
    """Return the ids of all processes."""
    return [int(path.name) for path in root.glob("[0-9]*") if path.name.isdigit()]


def opened(folder: Path) -> set[str]:
    """Return what the descriptors of a process are; nothing for one of another user, or that has ended."""
    found: set[str] = set()
    try:
        paths = list(folder.iterdir())
    except OSError:
        return found
    for path in paths:
        # One may have been closed since: that of the look at the folder always is.
        with suppress(OSError):
            found.add(str(path.readlink()))
    return found
