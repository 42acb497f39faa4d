"""The machine that runs a benchmark."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

BUSY = 0.5
"""The load for each core from which a machine is called busy."""


def facts() -> dict[str, Any]:
    """Return what the results show of this machine."""
    return {"cores": os.cpu_count(), "cpu": processor(), "memory_mb": memory(), "load_average": load_average()}


def load_average() -> float:
    """Return the load of the last minute."""
    return round(os.getloadavg()[0], 2)


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


def memory() -> int:
    """Return the size of the memory in MB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1_000_000


def busy_note() -> str:
    """Return what has to be said of a machine that has other work; empty for a quiet one."""
    load, cores = load_average(), os.cpu_count() or 1
    return f"load {load:g} on {cores} cores: other work makes the figures noisy" if load > BUSY * cores else ""
