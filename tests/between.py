"""A relay between a client and a server, which makes the faults of a network."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from urllib.parse import urlsplit

LINE = re.compile(rb"(?:GET|HEAD|POST|PUT|PATCH|DELETE) \S+ (?=HTTP/1\.1\r\n)")
"""The first line of a request."""


class Between:
    """Relay connections to a URL; `url` is where it listens itself."""

    def __init__(self, url: str) -> None:
        at = urlsplit(url)
        self._to = at.hostname, at.port
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._answers = asyncio.Event()
        self._answers.set()
        self._port = 0
        self.delay = 0.0
        """The time in seconds by which answers are late."""
        self.requests: list[str] = []
        """The methods and targets of requests, in their order."""
        self.left: int | None = None
        """The bytes of answers after which all connections are cut; None: never."""

    async def start(self) -> None:
        """Listen, again on the same port."""
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    def turn_to(self, url: str) -> None:
        """Relay later connections to another URL."""
        at = urlsplit(url)
        self._to = at.hostname, at.port

    def refuse(self) -> None:
        """Refuse connections until the next start, and reset those that are open."""
        self._server.close()
        self.cut()

    async def stop(self) -> None:
        """End everything."""
        self._server.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Reset all connections."""
        for writer in list(self._open):
            writer.transport.abort()
        self._open.clear()

    def hold(self) -> None:
        """Keep answers back from now on; requests still reach the server."""
        self._answers.clear()

    def release(self) -> None:
        """Deliver the answers that were kept back, and later ones."""
        self._answers.set()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, out = await asyncio.open_connection(*self._to)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, out}
        for work in (self._requests(reader, out), self._replies(there, writer)):
            task = asyncio.ensure_future(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                self.requests += (line.decode().rstrip() for line in LINE.findall(data))
                writer.write(data)
                await writer.drain()
        writer.transport.abort()

    async def _replies(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                await self._answers.wait()
                if self.delay:
                    await asyncio.sleep(self.delay)
                if self.left is not None:
                    data, self.left = data[: self.left], self.left - len(data)
                writer.write(data)
                await writer.drain()
                if self.left is not None and self.left <= 0:
                    self.left = None
                    self.cut()
        writer.transport.abort()
