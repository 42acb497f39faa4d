"""A program that is started in place of etcd: it answers `/health`, and keeps nothing."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Sequence
from urllib.parse import urlsplit

from hydrofoil.cli.etcd_flags import parse_flags

HELP = """Usage: etcd [flags]

Answers /health. Objects are kept by the kube-apiserver of the same folder.

--listen-client-urls 'http://localhost:2379'
  List of URLs to listen on for client traffic.
--advertise-client-urls 'http://localhost:2379'
  Accepted without a meaning, as every other flag of etcd is.
--listen-peer-urls 'http://localhost:2380'
  Accepted without a meaning.
--data-dir 'default.etcd'
  Accepted without a meaning.
--unsafe-no-fsync 'false'
  Accepted without a meaning.
"""
VERSION = "etcd Version: 3.6.8\nGit SHA: hydrofoil\n"
HEALTHY = b'{"health":"true","reason":""}'
HTTP2 = b"PRI * HTTP/2.0"
REFUSAL = "hydrofoil: this etcd keeps no objects and serves no gRPC (use the kube-apiserver of the same folder)\n"
HEAD_SECONDS = 10.0


class Listener:
    """The connections of clients."""

    def __init__(self) -> None:
        self._refused = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; then close."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(HTTP2):
                self._refuse()
            else:
                self._answer(writer, head.split(b"\r\n", 1)[0].split(b" "))
                await writer.drain()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    def _refuse(self) -> None:
        if not self._refused:
            self._refused = True
            sys.stderr.write(REFUSAL)
            sys.stderr.flush()

    @staticmethod
    def _answer(writer: asyncio.StreamWriter, line: list[bytes]) -> None:
        found = len(line) == 3 and line[1].split(b"?")[0] == b"/health"
        status, body = (b"200 OK", HEALTHY) if found else (b"404 Not Found", b"404 page not found\n")
        media = b"application/json" if found else b"text/plain; charset=utf-8"
        head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        writer.write(head % (status, media, len(body)) + (b"" if line[0] == b"HEAD" else body))


def addresses(argv: Sequence[str]) -> list[tuple[str, int]]:
    """Return the addresses to listen on. Raise ValueError."""
    found = []
    for url in parse_flags(argv).get("listen-client-urls", "http://localhost:2379").split(","):
        parts = urlsplit(url)
        if not parts.hostname or parts.scheme not in ("http", "https"):
            raise ValueError(f"--listen-client-urls {url!r} is no URL such as http://127.0.0.1:2379")
        found.append((parts.hostname, 2379 if parts.port is None else parts.port))
    return found


async def run(where: list[tuple[str, int]]) -> None:
    """Serve until a signal. Raise OSError."""
    listener = Listener()
    servers = [await asyncio.start_server(listener.serve, host, port) for host, port in where]
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()
    for server in servers:
        server.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; return the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if any(word in ("--help", "-h", "-help") for word in words):
        sys.stdout.write(HELP)
        return 0
    if any(word.lstrip("-") == "version" for word in words):
        sys.stdout.write(VERSION)
        return 0
    try:
        asyncio.run(run(addresses(words)))
    except (OSError, ValueError) as e:
        sys.stderr.write(f"hydrofoil: etcd: {e}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
