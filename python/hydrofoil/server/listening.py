"""The socket that a server listens on: an address, or a Unix socket that only its owner may use."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import stat
from pathlib import Path

BACKLOG = 4096
HTTPS_PORT = 443
"""The port in objects about a server without one, or with another at each start."""
MENDS = {
    errno.EADDRINUSE: " (--port 0 takes any free one)",
    errno.EACCES: " (--port takes one from 1024 on)",
    errno.EADDRNOTAVAIL: " (--host takes an address of this machine)",
}
"""Advice on a failure to listen."""


class StartError(Exception):
    """A server that cannot start, with a one-line reason."""


class ListenError(StartError):
    """An address that cannot be used, with one line."""


def reason(error: OSError) -> str:
    """Return the operating system's message for a failure."""
    return os.strerror(error.errno) if error.errno else str(error)


def is_local(host: str) -> bool:
    """Report whether an address is reached from this machine alone."""
    return host in ("localhost", "::1") or host.startswith("127.")


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address. Raise ListenError."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except socket.gaierror as e:
        mend = "(--host takes an address of this machine)"
        raise ListenError(f"cannot listen on {host}:{port}: {e.strerror} {mend}") from None
    except OSError as e:
        if (e.errno or 0) < 0:
            # `create_server` makes another error of that of the name server.
            why = "no address is known by that name (--host takes an address of this machine)"
            raise ListenError(f"cannot listen on {host}:{port}: {why}") from None
        mend = MENDS.get(e.errno or 0, "")
        raise ListenError(f"cannot listen on {host}:{port}: {reason(e)}{mend}") from None
    except (OverflowError, ValueError) as e:
        raise ListenError(f"cannot listen on {host}:{port}: {e}") from None
    listener.setblocking(False)
    return listener


class UnixSocket:
    """A socket in the file system, removed at the end."""

    def __init__(self, path: str) -> None:
        """Replace the socket of a server that has ended. Raise ListenError."""
        self._path = Path(path).absolute()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._refuse_used()
            with contextlib.suppress(FileNotFoundError):
                beside.unlink()
            # No client can connect before the mode is set: it has another name, and does not listen.
            self.listener.bind(str(beside))
            beside.chmod(0o600)
            self.listener.listen(BACKLOG)
            beside.replace(self._path)
            self._inode = self._path.stat().st_ino
        except OSError as e:
            self.listener.close()
            with contextlib.suppress(OSError):
                beside.unlink()
            raise ListenError(f"cannot listen on {path}: {reason(e)} (--unix-socket takes another path)") from None
        self.listener.setblocking(False)

    def _refuse_used(self) -> None:
        """Raise OSError unless the path is free, or the socket of a server that has ended."""
        try:
            mode = self._path.lstat().st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(mode):
            raise OSError(errno.EEXIST, "")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(1)
            try:
                probe.connect(str(self._path))
            except (ConnectionRefusedError, FileNotFoundError):
                return
        raise OSError(errno.EADDRINUSE, "")

    def remove(self) -> None:
        """Remove the socket, unless another server has replaced it."""
        with contextlib.suppress(OSError):
            if self._path.stat().st_ino == self._inode:
                self._path.unlink()


class Listener:
    """The socket of one server, from its bind on: clients may connect before the first answer is ready."""

    def __init__(self, host: str, port: int, unix_socket: str = "") -> None:
        """Listen. Raise ListenError."""
        self._unix = UnixSocket(unix_socket) if unix_socket else None
        self.unix = unix_socket
        """The path of a Unix socket; empty for an address."""
        if self._unix is not None:
            self.socket = self._unix.listener
            self.host, self.port = "localhost", port or HTTPS_PORT
        else:
            self.socket = listen(host, port)
            self.host, self.port = self.socket.getsockname()[:2]

    @classmethod
    def known(cls, host: str, port: int, unix_socket: str) -> Listener:
        """Return the listener that another process has: clients are handed over by it."""
        found = cls.__new__(cls)
        found._unix, found.unix, found.socket = None, unix_socket, socket.socket(socket.AF_UNIX)
        found.host, found.port = host, port
        return found

    @property
    def authority(self) -> str:
        """Return host and port, as in the header Host."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    async def close(self) -> None:
        """Stop listening, and remove a Unix socket; again is no error."""
        self.socket.close()
        unix, self._unix = self._unix, None
        if unix is not None:
            await asyncio.to_thread(unix.remove)
