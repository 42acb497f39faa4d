"""The view on a disk: a start costs the upstream no list of what an earlier process has kept."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

from hydrofoil.clock import Clock
from hydrofoil.engine import Selector
from hydrofoil.errors import FAULTS
from hydrofoil.server.gateway.mirrors import Mirror, Mirrors

LOG = logging.getLogger("hydrofoil")
SAVE_SECONDS = 60.0
CHUNK = 1 << 20


class KeptView:
    """A folder with one list for each resource, as the upstream would send it, at the version of the view."""

    def __init__(self, folder: str, source: str, mirrors: Mirrors, clock: Clock) -> None:
        """`source` is the URL of the upstream: the lists of another one are not read. It blocks. Raise ValueError."""
        self._folder = Path(folder)
        self._mirrors = mirrors
        self._clock = clock
        self._saved: dict[str, int] = {}
        """The versions of the files."""
        self._lists: dict[str, bytes] = {}
        """The lists that nobody has taken, by the names of their files."""
        self._task: asyncio.Task[None] | None = None
        mark = self._folder / "upstream"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not mark.exists() or mark.read_text() != source:
                for file in self._folder.glob("*.json"):
                    file.unlink()
                mark.write_text(source)
        except OSError as e:
            raise ValueError(f"--data-dir {folder}: {(e.strerror or str(e)).lower()}") from None

    def _file(self, path: str) -> Path:
        return self._folder / f"{path.strip('/').replace('/', '.')}.json"

    async def load(self) -> None:
        """Read all lists."""
        self._lists = await asyncio.to_thread(lambda: {f.name: f.read_bytes() for f in self._folder.glob("*.json")})

    def take(self, path: str) -> bytes:
        """Return the list of a path, once; empty if there is none."""
        return self._lists.pop(self._file(path).name, b"")

    def start(self) -> None:
        """Begin to save at intervals."""
        self._task = asyncio.create_task(self._keep_saving(), name="saving the view")

    async def close(self) -> None:
        """Save what has changed, and stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._save_all()

    async def _keep_saving(self) -> None:
        while True:
            await self._clock.machine.sleep(SAVE_SECONDS)
            await self._save_all()

    async def _save_all(self) -> None:
        for mirror in self._mirrors.all():
            try:
                await self._save(mirror)
            except FAULTS:
                LOG.exception("the view of %s is not saved", mirror.path)

    async def _save(self, mirror: Mirror) -> None:
        collection = mirror.collection
        if collection is None or collection.loading is not None:
            return
        revision = collection.revision
        if self._saved.get(mirror.path) == revision:
            return
        native = mirror.resource.native
        cursor = collection.list(native, Selector(native, "", "", ""), "json", 0, 0, "")

        def write() -> None:
            file = self._file(mirror.path)
            fresh = file.with_suffix(".new")
            # Objects of a cluster are its owner's alone.
            with os.fdopen(os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as out:
                out.write(cursor.head(""))
                while (parts := cursor.chunk(CHUNK)) is not None:
                    for part in parts:
                        out.write(part)
                out.write(b"]}\n")
                out.flush()
                os.fsync(out.fileno())
            fresh.replace(file)

        await asyncio.to_thread(write)
        self._saved[mirror.path] = revision
