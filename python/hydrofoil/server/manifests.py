"""The objects that files give a server: applied at its start, and followed afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import orjson

from hydrofoil.clock import Clock
from hydrofoil.controls.apply import JSON, Kinds, ObjectSet, Reply
from hydrofoil.controls.documents import Document, files_of, parse_documents
from hydrofoil.errors import FAULTS, ApiError
from hydrofoil.files import Stamp, stamp
from hydrofoil.server.listening import StartError, reason
from hydrofoil.server.memory import Pipe, ask
from hydrofoil.server.part import Core

LOG = logging.getLogger("hydrofoil")
PERIOD = 0.5
"""The interval in seconds of the looks at files; what changes is read once it is the same in two of them."""
CHECK = "manifests"
"""The name of the check of health, which fails until the first files are applied."""


class File:
    """What one file has given."""

    def __init__(self) -> None:
        self.paths: dict[bytes, str] = {}
        """The paths of the objects that were applied, by their contents."""
        self.refused = False
        """Whether an object of it was refused: it is tried again when any file changes, as that may mend it."""


class Manifests:
    """Files and folders of one server."""

    def __init__(
        self,
        core: Core,
        dial: Callable[[asyncio.BaseProtocol], Pipe],
        settle: Callable[[], Awaitable[None]],
    ) -> None:
        """`dial` connects a client in memory, whose requests are the server's own; `settle` waits for controllers."""
        self._paths = [Path(path) for path in core.config.manifests]
        self._clock: Clock = core.clock
        self._authority = core.site.authority
        self._kinds = Kinds(core.catalog, core.listeners)
        self._dial = dial
        self._settle = settle
        self._files: dict[Path, File] = {}
        self._stamps: dict[Path, Stamp | None] = {}
        self._made: dict[str, None] = {}
        """The paths of all objects that were applied, the first one first."""
        self._task: asyncio.Task[None] | None = None
        self.problem = "not applied yet"
        """Why the server is not ready; empty once the files are applied."""

    async def apply(self) -> None:
        """Apply all files. Raise StartError with one line."""
        # A pod needs the account of its namespace, which a controller makes.
        await self._settle()
        try:
            stamps = await asyncio.to_thread(find_files, self._paths)
            contents = await asyncio.to_thread(read_files, stamps)
        except OSError as e:
            where = e.filename or ", ".join(map(str, self._paths))
            raise StartError(f"cannot read the manifests {where}: {reason(e)} (--manifests takes a path)") from None
        try:
            parsed = {path: parse_documents(data, str(path)) for path, data in contents.items()}
            problems = await self._take(parsed)
        except ApiError as e:
            raise StartError(f"cannot apply the manifests: {e.message}") from None
        if problems:
            raise StartError(f"cannot apply the manifests: {problems[0]}")
        self._stamps = dict(stamps)
        self.problem = ""

    def follow(self) -> None:
        """Begin to apply what changes, and to prune what no file has any more."""
        self._task = asyncio.create_task(self._look(), name="manifests")

    async def close(self) -> None:
        """Stop looking."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _look(self) -> None:
        before = self._stamps
        while True:
            await self._clock.machine.sleep(PERIOD)
            # A folder that is missing is one without files.
            now = await asyncio.to_thread(find_files, self._paths, missing=True)
            if now != self._stamps and now == before:
                try:
                    await self._update(now)
                except FAULTS:
                    LOG.exception("changed manifests could not be applied")
            before = now

    async def _update(self, stamps: dict[Path, Stamp | None]) -> None:
        """Apply the files that have changed; a fault in one is a line of the log, and its objects stay."""
        refused = {path for path, file in self._files.items() if file.refused}
        changed = [path for path, found in stamps.items() if self._stamps.get(path) != found or path in refused]
        parsed = {}
        for path in changed:
            try:
                data = await asyncio.to_thread(path.read_bytes)
                parsed[path] = parse_documents(data, str(path))
            except ApiError as e:
                LOG.warning("manifests: %s", e.message)
            except OSError as e:
                LOG.warning("manifests: %s: %s", path, reason(e))
        for path in [path for path in self._files if path not in stamps]:
            del self._files[path]
        self._stamps = stamps
        for problem in await self._take(parsed):
            LOG.warning("manifests: %s", problem)
        await self._prune()

    async def _take(self, parsed: dict[Path, list[Document]]) -> list[str]:
        """Apply what is new in files, definitions of all of them first; return what was refused."""
        problems: list[str] = []
        place = {id(document): path for path, documents in parsed.items() for document in documents}
        every = [document for documents in parsed.values() for document in documents]
        found = ObjectSet(self._ask, self._kinds.find, every, self._settle)
        taken: dict[Path, File] = {path: File() for path in parsed}
        for document in found.documents:
            path = place[id(document)]
            known = self._files.get(path, File()).paths
            content = orjson.dumps(document.content)
            if content in known:
                taken[path].paths[content] = known[content]
                continue
            try:
                applied = await found.apply(document, None)
            except ApiError as e:
                problems.append(e.message)
                # What it was before stays: nobody has asked for its end.
                taken[path].paths = {**known, **taken[path].paths}
                taken[path].refused = True
                continue
            taken[path].paths[content] = applied.path
            self._made[applied.path] = None
            LOG.info("manifests: %s applied", applied.path)
        self._files |= taken
        return problems

    async def _prune(self) -> None:
        """Delete what this server has applied and no file has any more, the last one first."""
        wanted = {path for file in self._files.values() for path in file.paths.values()}
        for path in [path for path in reversed(self._made) if path not in wanted]:
            del self._made[path]
            reply = await self._ask("DELETE", path, JSON, b"")
            if reply.status < 400:
                LOG.info("manifests: %s pruned", path)
            elif reply.status != 404:
                LOG.warning("manifests: cannot prune %s: %s", path, orjson.loads(reply.body).get("message", ""))

    async def _ask(self, method: str, target: str, media: str, body: bytes) -> Reply:
        """Send a request of the server itself, which has every right."""
        accept = {"Accept": JSON, "User-Agent": "hydrofoil"}
        return await ask(self._dial, method, target, {"Host": self._authority, "Content-Type": media, **accept}, body)


def find_files(paths: Sequence[Path], *, missing: bool = False) -> dict[Path, Stamp | None]:
    """Return the files of paths, with their stamps. Raise FileNotFoundError unless paths may be missing."""
    return {file: stamp(str(file)) for path in paths if not missing or path.exists() for file in files_of(path)}


def read_files(paths: Iterable[Path]) -> dict[Path, bytes]:
    """Return the contents of files. Raise OSError."""
    return {path: path.read_bytes() for path in paths}
