"""Files that are read again when they change."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from hydrofoil.clock import Clock
from hydrofoil.errors import FAULTS

LOG = logging.getLogger("hydrofoil")
PERIOD = 1.0
"""The interval in seconds of the checks: upstream waits for events of the file system, and looks each minute."""
Stamp = tuple[int, int, int]
"""Inode, time of change in nanoseconds, and size."""


class _Watched(Struct):
    paths: tuple[str, ...]
    changed: Callable[[], None]
    stamps: tuple[Stamp | None, ...]


def stamp(path: str) -> Stamp | None:
    """Return inode, time of change and size of a file; None for a missing one. Links are followed."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def stamps_of(paths: tuple[str, ...]) -> tuple[Stamp | None, ...]:
    """Return the stamps of several files."""
    return tuple(map(stamp, paths))


class Files:
    """Look at files each second; nothing runs as long as there is none."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watched: list[_Watched] = []
        self._task: asyncio.Task[None] | None = None

    def watch(self, *paths: str, changed: Callable[[], None]) -> None:
        """Call `changed` on the loop after the content or the presence of one of these files changed.

        Changes within a second count once. Its exceptions are logged; it reads the file itself.
        """
        self._watched.append(_Watched(paths, changed, stamps_of(paths)))

    async def start(self) -> None:
        """Begin to look, if any file is watched."""
        if self._watched and self._task is None:
            self._task = asyncio.create_task(self._look(), name="files")

    async def close(self) -> None:
        """Stop looking."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _look(self) -> None:
        while True:
            await self._clock.machine.sleep(PERIOD)
            for watched in self._watched:
                # A folder on a network may take its time.
                stamps = await asyncio.to_thread(stamps_of, watched.paths)
                if stamps != watched.stamps:
                    watched.stamps = stamps
                    try:
                        watched.changed()
                    except FAULTS:
                        LOG.exception("a changed file could not be used: %s", ", ".join(watched.paths))
