"""Messages between a test and a server in another process: pickles with their length in front."""

from __future__ import annotations

import pickle
import socket
import struct
from typing import Any

LENGTH = struct.Struct("!Q")


def pack(message: Any) -> bytes:
    """Return a message as bytes."""
    data = pickle.dumps(message)
    return LENGTH.pack(len(data)) + data


def failure(error: BaseException) -> BaseException:
    """Return an error that can be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def receive(connection: socket.socket) -> Any:
    """Return the next message. Raise EOFError at the end."""
    (size,) = LENGTH.unpack(_exactly(connection, LENGTH.size))
    return pickle.loads(_exactly(connection, size))


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(min(size - len(data), 1 << 20))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)
