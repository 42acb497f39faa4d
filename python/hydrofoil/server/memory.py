"""Connections in memory: a client of the same process needs neither a port nor a network."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

HIGH_WATER = 64 * 1024
"""The bytes above which a writer is asked to pause."""
PEER = ("127.0.0.1", 0)
"""The address that each end sees of the other."""


class Pipe(asyncio.Transport):
    """One end of a connection; what is written here is received at the other end, in a later turn of the loop."""

    peer: Pipe

    def __init__(self, protocol: asyncio.BaseProtocol, extra: Mapping[str, Any]) -> None:
        super().__init__({"peername": PEER, "sockname": PEER, **extra})
        self._loop = asyncio.get_running_loop()
        self._protocol = protocol
        self._sent: deque[bytes] = deque()
        self._size = 0
        self._reading = True
        self._closing = self._lost = self._scheduled = self._full = False

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give received bytes to another protocol from now on."""
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol that gets received bytes."""
        return self._protocol

    def is_reading(self) -> bool:
        """Report whether received bytes are passed on."""
        return self._reading

    def pause_reading(self) -> None:
        """Keep received bytes at the other end."""
        self._reading = False

    def resume_reading(self) -> None:
        """Pass received bytes on."""
        self._reading = True
        self.peer._schedule()

    def get_write_buffer_size(self) -> int:
        """Return the bytes that were written and not received."""
        return self._size

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Return the marks at which the writer continues and pauses."""
        return HIGH_WATER // 4, HIGH_WATER

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: the marks are fixed."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes."""
        if self._closing or not data:
            return
        self._sent.append(bytes(data))
        self._size += len(data)
        self._schedule()
        if self._size > HIGH_WATER and not self._full:
            self._full = True
            self._writer().pause_writing()

    def can_write_eof(self) -> bool:
        """Report that no end can be closed alone."""
        return False

    def is_closing(self) -> bool:
        """Report whether nothing more is sent."""
        return self._closing

    def close(self) -> None:
        """Close both ends, once everything is received."""
        if not self._closing:
            self._closing = True
            self._schedule()

    def abort(self) -> None:
        """Close both ends at once."""
        self._sent.clear()
        self._size = 0
        self.close()

    def _writer(self) -> asyncio.Protocol:
        assert isinstance(self._protocol, asyncio.Protocol), "the ends of a pipe are protocols of streams"
        return self._protocol

    def _schedule(self) -> None:
        if not self._scheduled and not self._lost:
            self._scheduled = True
            self._loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        self._scheduled = False
        peer = self.peer
        while self._sent and peer._reading and not peer._lost:
            data = self._sent.popleft()
            self._size -= len(data)
            peer._writer().data_received(data)
        if self._full and self._size <= HIGH_WATER // 4:
            self._full = False
            self._writer().resume_writing()
        if self._closing and (not self._sent or peer._lost):
            self._end()
            peer._end()

    def _end(self) -> None:
        if not self._lost:
            self._lost = self._closing = True
            self._sent.clear()
            self._size = 0
            self._loop.call_soon(self._protocol.connection_lost, None)


def connect(
    make: Callable[[], asyncio.BaseProtocol], client: asyncio.BaseProtocol, extra: Mapping[str, Any] | None = None
) -> Pipe:
    """Return the client's end of a new connection; `extra` is what the server's end knows of it."""
    near, far = Pipe(client, {}), Pipe(make(), {"hydrofoil.memory": True, **(extra or {})})
    near.peer, far.peer = far, near
    far.get_protocol().connection_made(far)
    client.connection_made(near)
    return near


class Reply(NamedTuple):
    """An answer to a request of the server to itself."""

    status: int
    body: bytes


async def ask(
    dial: Callable[[asyncio.BaseProtocol], Pipe],
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: bytes = b"",
) -> Reply:
    """Send one request over a connection of its own, and return the whole answer."""
    reader = asyncio.StreamReader()
    pipe = dial(asyncio.StreamReaderProtocol(reader))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"{method} {target} HTTP/1.1\r\nConnection: close\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
    try:
        pipe.write(head.encode() + body)
        start, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        known = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        if known.get("transfer-encoding") == "chunked":
            return Reply(int(start.split(" ")[1]), await _chunks(reader))
        return Reply(int(start.split(" ")[1]), await reader.readexactly(int(known.get("content-length", "0"))))
    finally:
        pipe.abort()


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while size := int(await reader.readline(), 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    return b"".join(parts)
