"""Certificates and raw connections for tests of the transport."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import stat
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from hydrofoil import engine
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

GET = b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Made:
    """An authority and a server's pair in files."""

    folder: Path
    ca: tuple[str, str]
    cert: str
    key: str

    def pair(self, name: str, names: list[str], user: tuple[str, str] | None = None) -> tuple[str, str]:
        """Return the files of a certificate of the authority."""
        made = engine.new_certificate(self.ca[1].encode(), names, user, int(time.time()))
        files = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        for file, text in zip(files, made, strict=True):
            write(file, text)
        return str(files[0]), str(files[1])

    def client(self, **limits: ssl.TLSVersion) -> ssl.SSLContext:
        """Return the settings of a client that trusts the authority."""
        context = ssl.create_default_context(cafile=str(self.folder / "ca.crt"))
        for name, value in limits.items():
            setattr(context, name, value)
        return context


def read(path: Path | str) -> str:
    """Return the text of a file."""
    return Path(path).read_text()


def write(path: Path | str, text: str) -> None:
    """Replace the text of a file."""
    Path(path).write_text(text)


def mode(path: Path) -> int:
    """Return the permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path, pattern: str = "*") -> list[str]:
    """Return the names in a folder."""
    return sorted(path.name for path in folder.glob(pattern))


def make(folder: Path) -> Made:
    """Return new files in a folder, which may be absent."""
    folder.mkdir(exist_ok=True)
    ca = engine.new_authority(int(time.time()))
    write(folder / "ca.crt", ca[0])
    write(folder / "ca.key", ca[1])
    made = Made(folder, ca, str(folder / "server.crt"), str(folder / "server.key"))
    made.pair("server", ["localhost", "127.0.0.1"])
    return made


@contextlib.asynccontextmanager
async def serving(config: Config) -> AsyncIterator[Server]:
    """Yield a server."""
    server = Server(config)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def port_of(server: Server) -> int:
    """Return its port."""
    return int(server.url.rpartition(":")[2])


async def exchange(server: Server, data: bytes, context: ssl.SSLContext | None = None) -> bytes:
    """Send bytes, and return the answer up to the end of the connection."""
    name = "localhost" if context else None
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server), ssl=context, server_hostname=name)
    try:
        writer.write(data)
        return await asyncio.wait_for(reader.read(-1), 20)
    finally:
        writer.close()
        with contextlib.suppress(OSError, ssl.SSLError):
            await writer.wait_closed()
