"""Objects sent to Hydrofoil as they were, many in a request."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from hydrofoil.cli.client import Client
from hydrofoil.cli.dumps.progress import Bar
from hydrofoil.cli.dumps.sender import message
from hydrofoil.cli.dumps.served import JSON
from hydrofoil.cli.dumps.summary import Summary
from hydrofoil.cli.failure import USAGE, WRONG, Failure
from hydrofoil.dumps.object import DumpedObject

PATH = "/hydrofoil/v1/import"
LINES = "application/x-ndjson"
BYTES = 512 << 10
"""The size at which a request is sent: a server takes 3 MiB."""


class BatchSender:
    """The requests of one import."""

    def __init__(
        self, client: Client, summary: Summary, on_conflict: str, bar: Bar, refused: Callable[[DumpedObject], None]
    ) -> None:
        """`refused` is called with each object that was not taken."""
        self._refused = refused
        self._client = client
        self._summary = summary
        self._target = f"{PATH}?onConflict={on_conflict}"
        self._bar = bar
        self._waiting: list[DumpedObject] = []
        self._lines: list[bytes] = []
        self._size = 0

    async def check(self) -> None:
        """Raise Failure for a server that does not take objects as they were."""
        reply = await self._client.ask("GET", PATH, JSON, b"")
        if reply.status == 200:
            return
        if reply.status in (401, 403):
            raise Failure(f"--keep-uids: {message(reply)}", "it takes an administrator", USAGE)
        raise Failure("--keep-uids: the server is no Hydrofoil, and assigns uids by itself", "import without it", USAGE)

    async def add(self, found: DumpedObject, line: bytes) -> None:
        """Send an object with the next request."""
        if self._size + len(line) > BYTES:
            await self.flush()
        self._waiting.append(found)
        self._lines.append(line)
        self._size += len(line)

    async def flush(self) -> None:
        """Send what waits. Raise Failure for a request that is refused as a whole."""
        waiting, lines = self._waiting, self._lines
        self._waiting, self._lines, self._size = [], [], 0
        if not waiting:
            return
        reply = await self._client.ask("POST", self._target, LINES, b"\n".join(lines))
        if reply.status == 413 and len(waiting) == 1:
            self._summary.fail(waiting[0], message(reply))
        elif reply.status != 200:
            raise Failure(f"the import was refused: {message(reply)}", code=WRONG)
        else:
            for found, (outcome, reason) in zip(waiting, orjson.loads(reply.body)["items"], strict=True):
                self._summary.count(found, outcome, reason)
                if outcome in ("skipped", "failed"):
                    self._refused(found)
        self._bar.advance(len(waiting))
