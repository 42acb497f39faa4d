"""Clients that write the bytes of their requests themselves."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl

from hydrofoil.server.run import Server
from tests.api.secure import port_of

VARIES = re.compile(rb"(Audit-Id|Date): [^\r]*|[0-9a-f]{8}(-[0-9a-f]{4,12}){4}|\d{4}-\d\d-\d\dT[^\"]*|\d{6,}")


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def close(self) -> None:
        """End the connection."""
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()

    def send(self, line: str, *headers: str, body: bytes | None = None) -> None:
        """Send a request of a request line without its version, and further header lines."""
        length = [] if body is None else [f"Content-Length: {len(body)}"]
        head = "\r\n".join((f"{line} HTTP/1.1", "Host: localhost", *headers, *length, "", ""))
        self.writer.write(head.encode() + (body or b""))

    async def head(self) -> tuple[bytes, bytes]:
        """Return the head of the next answer, which has no body."""
        return await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 10), b""

    async def answer(self) -> tuple[bytes, bytes]:
        """Return the head and the body of the next answer."""
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 10)
        length = re.search(rb"Content-Length: (\d+)", head)
        return head, await self.reader.readexactly(int(length[1]) if length else 0)

    async def ask(self, line: str, *headers: str, body: bytes | None = None) -> bytes:
        """Return the answer without what differs between two."""
        self.send(line, *headers, body=body)
        return VARIES.sub(b"", b"".join(await self.answer()))


async def dial(server: Server, tls: ssl.SSLContext | None = None) -> Client:
    """Return a new connection to a server."""
    name = "localhost" if tls else None
    return Client(*await asyncio.open_connection("127.0.0.1", port_of(server), ssl=tls, server_hostname=name))
