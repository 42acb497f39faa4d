"""Messages between the owner and a worker: what they tell each other beside objects."""

from __future__ import annotations

import asyncio
import socket
from itertools import count
from typing import NamedTuple

import msgspec

HEAD = 8
"""The bytes before a message: its length."""


class Message(NamedTuple):
    """What one side says, or asks, or answers."""

    kind: str
    number: int
    """The number of a question, which its answer has, too; 0 for what needs no answer."""
    body: bytes


class Channel:
    """One end of the connection between two processes of a server, which trust each other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = count(1)
        self._asked: dict[int, asyncio.Future[bytes]] = {}

    @classmethod
    async def open(cls, end: socket.socket) -> Channel:
        """Return the channel over one end of a pair of sockets."""
        end.setblocking(False)
        return cls(*await asyncio.open_connection(sock=end))

    def send(self, kind: str, body: bytes = b"", number: int = 0) -> None:
        """Send a message; it is nothing to a process that has ended."""
        data = msgspec.msgpack.encode((kind, number, body))
        self._writer.write(len(data).to_bytes(HEAD, "little") + data)

    async def ask(self, kind: str, body: bytes = b"") -> bytes:
        """Return the answer of the other side. Raise ConnectionError if it ends first."""
        number = next(self._numbers)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        self.send(kind, body, number)
        try:
            return await answer
        finally:
            self._asked.pop(number, None)

    async def receive(self) -> Message | None:
        """Return the next message that is no answer to a question of this side; None at the end of the other one."""
        while True:
            try:
                head = await self._reader.readexactly(HEAD)
                data = await self._reader.readexactly(int.from_bytes(head, "little"))
            except (asyncio.IncompleteReadError, OSError):
                for asked in self._asked.values():
                    if not asked.done():
                        asked.set_exception(ConnectionError("the other process has ended"))
                return None
            found = Message(*msgspec.msgpack.decode(data, type=tuple[str, int, bytes]))
            if found.kind != "answer":
                return found
            asked_now = self._asked.get(found.number)
            if asked_now is not None and not asked_now.done():
                asked_now.set_result(found.body)

    def close(self) -> None:
        """End it."""
        self._writer.close()
