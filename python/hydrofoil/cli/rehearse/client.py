"""Requests to a server of the same process, one after the other, on one connection in memory."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from hydrofoil.server.memory import Pipe

JSON = "application/json"
WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


class Answer(NamedTuple):
    """An answer, and the warnings of its head."""

    status: int
    body: bytes
    warnings: Sequence[str] = ()

    def content(self) -> dict[str, Any]:
        """Return the object, list or Status."""
        found: dict[str, Any] = orjson.loads(self.body)
        return found


class MemoryClient:
    """One connection, made again where the server has closed it."""

    def __init__(self, dial: Callable[[asyncio.BaseProtocol], Pipe], authority: str) -> None:
        self._dial = dial
        self._authority = authority
        self._reader: asyncio.StreamReader | None = None
        self._pipe: Pipe | None = None

    def close(self) -> None:
        """Close the connection."""
        if self._pipe is not None:
            self._pipe.abort()
        self._pipe = self._reader = None

    async def ask(
        self,
        method: str,
        target: str,
        media: str = JSON,
        body: bytes = b"",
        headers: Mapping[str, object] | None = None,
    ) -> Answer:
        """Send a request; return its answer. A list among the headers is a line for each value."""
        if self._reader is None or self._pipe is None or self._pipe.is_closing():
            self._reader = asyncio.StreamReader(limit=1 << 20)
            self._pipe = self._dial(asyncio.StreamReaderProtocol(self._reader))
        given = {"Accept": JSON, **({"Content-Type": media} if body else {}), **(headers or {})}
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self._authority}", "User-Agent: hydrofoil"]
        for name, value in given.items():
            lines += [f"{name}: {one}" for one in (value if isinstance(value, list) else [value])]
        lines.append(f"Content-Length: {len(body)}\r\n\r\n")
        self._pipe.write("\r\n".join(lines).encode("utf-8", "surrogateescape") + body)
        try:
            return await self._read(self._reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.close()
            return Answer(400, orjson.dumps({"kind": "Status", "message": "the request was cut off"}))

    async def _read(self, reader: asyncio.StreamReader) -> Answer:
        start, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8", "replace").split("\r\n")
        length, is_chunked, is_last, warnings = 0, False, False, list[str]()
        for field in fields:
            name, _, value = field.partition(":")
            name, value = name.lower(), value.strip()
            if name == "content-length":
                length = int(value)
            elif name == "transfer-encoding":
                is_chunked = value == "chunked"
            elif name == "connection":
                is_last = value == "close"
            elif name == "warning":
                warnings += [re.sub(r"\\(.)", r"\1", text) for text in WARNING.findall(value)]
        body = await read_chunks(reader) if is_chunked else await reader.readexactly(length)
        if is_last:
            self.close()
        return Answer(int(start.split(" ")[1]), body, tuple(warnings))


async def read_chunks(reader: asyncio.StreamReader) -> bytes:
    """Return a body that comes in chunks."""
    parts = []
    while size := int(await reader.readline(), 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(parts)
