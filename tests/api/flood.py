"""A client that floods a server: `python flood.py PORT heads|hellos|handshakes SECONDS`."""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import time

MANY = 300


def greeting() -> bytes:
    """Return the first bytes of a handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    out = ssl.MemoryBIO()
    session = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        session.do_handshake()
    return out.read()


def opened(port: int) -> socket.socket:
    """Return a connection that never blocks."""
    made = socket.create_connection(("127.0.0.1", port))
    made.setblocking(False)
    return made


def trickle(port: int, first: bytes, end: float) -> None:
    """Keep many connections whose first message never ends."""
    kept = [opened(port) for _ in range(MANY)]
    for one in kept:
        one.send(first)
    while time.monotonic() < end:
        for one in kept:
            with contextlib.suppress(OSError):
                one.send(b"a")
        time.sleep(0.05)


def shake(port: int, hello: bytes, end: float) -> None:
    """Begin handshakes as fast as possible, many at once, and end none."""
    while time.monotonic() < end:
        kept = [opened(port) for _ in range(MANY)]
        for one in kept:
            one.send(hello)
        for one in kept:
            one.setblocking(True)
            one.settimeout(5)
            with contextlib.suppress(OSError):
                one.recv(1000)
            one.close()


if __name__ == "__main__":
    port, kind, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    print("begun", flush=True)
    end = time.monotonic() + seconds
    if kind == "heads":
        trickle(port, b"GET /version HTTP/1.1\r\nX: ", end)
    elif kind == "hellos":
        trickle(port, greeting()[:-100], end)
    else:
        shake(port, greeting(), end)
