"""What a supervisor is told of a server: systemd by its socket, any other by a descriptor."""

from __future__ import annotations

import contextlib
import os
import socket

SOCKET = "NOTIFY_SOCKET"
STANDARD = 3
"""The descriptors below are the standard ones: they stay open."""


def notify(*lines: str) -> None:
    """Tell systemd the state of this process (sd_notify(3)), if it asks for it. A supervisor that has gone is none."""
    path = os.environ.get(SOCKET, "")
    if not path.startswith(("/", "@")):
        return
    address = f"\0{path[1:]}" if path.startswith("@") else path
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
        sender.connect(address)
        sender.send("\n".join(lines).encode())


def is_open(descriptor: int) -> bool:
    """Report whether a descriptor can be written to: to be asked before this process opens any of that number."""
    try:
        os.set_inheritable(descriptor, False)
        os.write(descriptor, b"")
    except OSError:
        return False
    return True


def announce(descriptor: int, line: str) -> None:
    """Write a line to a descriptor, and close it. A reader that has gone is none."""
    with contextlib.suppress(OSError):
        os.write(descriptor, line.encode())
    if descriptor >= STANDARD:
        with contextlib.suppress(OSError):
            os.close(descriptor)
