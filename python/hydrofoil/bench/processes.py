"""CPU and memory of the processes of a server, from /proc."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

TICK = 1 / os.sysconf("SC_CLK_TCK")


class Usage(NamedTuple):
    """The usage of all processes together."""

    cpu: float
    """Seconds of user and system time."""
    rss: float
    """MB of resident memory."""


def stat(pid: int) -> tuple[float, int]:
    """Return CPU seconds and parent of a process. Raise OSError if there is no such process."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) * TICK, int(parts[1])


def rss(pid: int) -> float:
    """Return the resident memory of a process in MB. Raise OSError if there is no such process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def family(pids: Iterable[int]) -> tuple[int, ...]:
    """Return processes and their descendants. Raise OSError for one that does not exist."""
    found = dict.fromkeys(pids)
    for pid in found:
        stat(pid)
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(path.name)] = stat(int(path.name))[1]
        except OSError:
            continue
    grown = True
    while grown:
        children = [pid for pid, parent in parents.items() if parent in found and pid not in found]
        found.update(dict.fromkeys(children))
        grown = bool(children)
    return tuple(found)


def workers(pids: Sequence[int]) -> int | None:
    """Return how many processes answer: those that one of the server's processes has started, or that one; None if the
    processes are not known."""
    if not pids:
        return None
    started = 0
    for pid in pids:
        try:
            started += stat(pid)[1] in pids
        except OSError:
            continue
    return started or 1


def usage(pids: Iterable[int]) -> Usage:
    """Return the usage of processes. One that has ended counts no more."""
    cpu = memory = 0.0
    for pid in pids:
        try:
            cpu += stat(pid)[0]
            memory += rss(pid)
        except OSError:
            continue
    return Usage(cpu, memory)
