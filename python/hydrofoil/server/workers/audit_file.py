"""The audit log of a server with workers: one file, which the owner writes for all.

A worker's thread sends lines and waits for what became of them, as it would wait for the disk; the owner has a thread
for each worker, and one lock for the file: lines of several processes never mix, and only one of them rotates.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Sequence

from hydrofoil.audit.log import File

HEAD = struct.Struct("<QQ")
"""The number of bytes of the lines, and the number of lines."""
OUTCOME = struct.Struct("<QQ")
"""How many lines were written, and the number of the error that ended it; 0 without one."""


class CommonFile:
    """The file in the owner, for its own records and those of workers."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._lock = threading.Lock()
        """Held over a write: lines are whole, and a rotation has no other writer."""

    def append(self, data: bytes, ends: Sequence[int]) -> tuple[int, OSError | None]:
        """Write lines, which end at these places; return how many were written, and the error that ended it."""
        with self._lock:
            return self._file.append(data, ends)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    def serve(self, end: socket.socket) -> None:
        """Write what a worker sends, on a thread of its own, until the worker ends."""
        thread = threading.Thread(target=self._serve, args=(end,), name="audit of a worker", daemon=True)
        thread.start()

    def _serve(self, end: socket.socket) -> None:
        with end:
            while (head := receive(end, HEAD.size)) is not None:
                size, count = HEAD.unpack(head)
                numbers, data = receive(end, 8 * count), receive(end, size)
                if numbers is None or data is None:
                    return
                written, error = self.append(data, struct.unpack(f"<{count}Q", numbers))
                try:
                    end.sendall(OUTCOME.pack(written, 0 if error is None else error.errno or 0))
                except OSError:
                    return


class RemoteFile:
    """The file as a worker has it."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        end.setblocking(True)

    def append(self, data: bytes, ends: Sequence[int]) -> tuple[int, OSError | None]:
        """Let the owner write lines; return how many were written, and the error that ended it."""
        try:
            self._end.sendall(HEAD.pack(len(data), len(ends)) + struct.pack(f"<{len(ends)}Q", *ends) + data)
            answer = receive(self._end, OUTCOME.size)
        except OSError as e:
            return 0, e
        if answer is None:
            return 0, ConnectionResetError("the process that writes the audit log has ended")
        written, number = OUTCOME.unpack(answer)
        return written, OSError(number, os.strerror(number)) if number else None

    def close(self) -> None:
        """Leave the owner."""
        self._end.close()


def receive(end: socket.socket, size: int) -> bytes | None:
    """Return so many bytes; None if the other side ends first."""
    found = bytearray()
    while len(found) < size:
        try:
            piece = end.recv(size - len(found))
        except OSError:
            return None
        if not piece:
            return None
        found += piece
    return bytes(found)
