"""A server in a process of its own, which ends with the one that started it."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Self

from hydrofoil import __version__
from hydrofoil.server.listening import StartError
from hydrofoil.testing import wire
from hydrofoil.testing.remote_server import RemoteServer
from hydrofoil.testing.snapshot import own_state

STOP_SECONDS = 10.0
VARIABLE = "HYDROFOIL"
"""The variable with the command of another environment, as the helpers in other languages read it."""
CHILD = "--child-of-test"
"""The word by which that command serves a test (`cli/main.py`)."""


class InProcess:
    """Calls on a server in another process."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._numbers = count(1)
        self._lock = threading.Lock()
        """Held while a call is numbered and sent, as a message is several writes, and while the end is declared."""
        self._calls: dict[int, Future[Any]] = {}
        self._posted: deque[bytes] = deque()
        """Calls without an answer that are not sent yet."""
        self._over = False
        self._thread = threading.Thread(target=self._read, name="hydrofoil-calls", daemon=True)
        self._thread.start()

    def begin(self, name: str, *given: Any) -> Future[Any]:
        """Begin a call."""
        future: Future[Any] = Future()
        number = next(self._numbers)
        future.add_done_callback(lambda f: self.post("cancel", number) if f.cancelled() else None)
        message = wire.pack((number, name, given))
        with self._lock:
            if self._over:
                raise RuntimeError("the server is not running")
            self._calls[number] = future
            self._send(message)
        self._flush()
        return future

    def _send(self, message: bytes) -> None:
        try:
            self._connection.sendall(message)
        except OSError:
            raise RuntimeError("the process of the server has ended") from None

    def call(self, name: str, *given: Any) -> Any:
        """Return the result of a call."""
        return self.begin(name, *given).result()

    def settled(self, name: str, *given: Any) -> Any:
        """Return the result of a plain call, once the controllers have done their work."""
        return self.begin("settled", name, *given).result()

    def post(self, name: str, *given: Any) -> None:
        """Make a call without waiting for it."""
        self._posted.append(wire.pack((0, name, given)))
        self._flush()

    def _flush(self) -> None:
        """Send what was posted. A thread that holds the lock does so when it has released it.

        Snapshots post when they are collected, which may be in the middle of a call of this same thread.
        """
        while self._posted and self._lock.acquire(blocking=False):
            try:
                message = self._posted.popleft()
                if not self._over:
                    self._send(message)
            except (IndexError, RuntimeError):
                # Another thread has sent it, or the process has ended.
                pass
            finally:
                self._lock.release()

    def _read(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                number, good, result = wire.receive(self._connection)
                with self._lock:
                    future = self._calls.pop(number, None)
                self._flush()
                if future is not None and future.set_running_or_notify_cancel():
                    if good:
                        future.set_result(result)
                    else:
                        future.set_exception(result)
                # A failure has the frames of the test, and they have its snapshots.
                del future, result
        with self._lock:
            self._over = True
            left, self._calls = self._calls, {}
        for future in left.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(RuntimeError("the process of the server has ended"))

    def close(self) -> None:
        """End the connection, and with it the server."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._connection.close()


class ProcessServer(RemoteServer):
    """A server in a process: `with Server.in_process() as server`."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._lock = threading.Lock()
        """Held over a start or a stop: two threads that start one server get the same process."""
        self._process: subprocess.Popen[bytes] | None = None
        self._calls: InProcess | None = None

    @property
    def pid(self) -> int:
        """Return the id of the process."""
        if self._process is None:
            raise RuntimeError("the server is not running")
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Report whether its process runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        """Start. Raise StartError with one line."""
        with self._lock:
            if self._process is not None:
                return self
            here, there = socket.socketpair()
            with there:
                try:
                    process = _begin([str(there.fileno()), str(os.getpid())], there.fileno())
                except StartError:
                    here.close()
                    raise
            calls = InProcess(here)
            try:
                if other_environment():
                    _check_version(calls)
                facts = calls.call("start", own_state(self._options))
            except BaseException as e:
                _end(calls, process)
                if isinstance(e, RuntimeError):
                    other = other_environment()
                    why = f"{other} has ended, and serves no test ({VARIABLE} names the command of hydrofoil)"
                    raise StartError(why if other else str(e)) from None
                raise
            self._process, self._calls = process, calls
            self._begin(calls, facts)
        return self

    def stop(self) -> None:
        """Stop; again is no error."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None and self._calls is not None:
                self._end()
                _end(self._calls, process)

    def begin(self, name: str, *given: Any) -> Future[Any]:
        """Begin a call of the core that takes time."""
        if self._calls is None or self._process is None:
            raise RuntimeError("the server is not running")
        return self._calls.begin(name, *given)


def other_environment() -> str:
    """Return the command of hydrofoil in another environment; empty for this one."""
    return os.environ.get(VARIABLE, "").strip()


def _begin(words: list[str], descriptor: int) -> subprocess.Popen[bytes]:
    """Return the process of a server. Raise StartError if there is no such program."""
    line = [sys.executable, "-P", "-c", _program(), *words]
    if other := other_environment():
        command = shlex.split(other)
        if Path(command[0]).is_dir():
            # A virtual environment.
            command[0] = str(Path(command[0]) / "bin" / "hydrofoil")
        line = [*command, CHILD, *words]
    nothing = subprocess.DEVNULL
    try:
        return subprocess.Popen(line, pass_fds=[descriptor], stdin=nothing, stdout=nothing, stderr=nothing)
    except OSError as e:
        raise StartError(f"cannot start {line[0]}: {e.strerror} ({VARIABLE} names the command)") from None


def _check_version(calls: InProcess) -> None:
    """Raise StartError if the command is of another version: it would send what this one cannot read."""
    found = calls.call("version")
    if found != __version__:
        raise StartError(
            f"{VARIABLE} is hydrofoil {found}, and this environment has {__version__}: install one in both"
        )


def _program() -> str:
    """Return the program of the child: it finds modules where its parent does, after those of the interpreter."""
    paths = [path for path in sys.path if path]
    found = f"sys.path += [path for path in {paths!r} if path not in sys.path]"
    return f"import sys; {found}; from hydrofoil.testing.child import main; main(sys.argv[1:])"


def _end(calls: InProcess, process: subprocess.Popen[bytes]) -> None:
    calls.close()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
