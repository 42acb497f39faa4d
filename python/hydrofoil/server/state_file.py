"""The servers of this user that run: a file of each in the folder for state, so that commands find the one meant."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from hydrofoil.folders import state_folder

if TYPE_CHECKING:
    from hydrofoil.server.run import Server

FOLDER = "servers"


class RunningServer(NamedTuple):
    """A server that another process runs."""

    pid: int
    url: str
    port: int
    since: datetime
    folder: str
    """The working folder in which it was started."""
    kubeconfig: str
    """The kubeconfig of the administrator; empty if none is needed."""
    begun: str
    """The start of the process, as the machine tells it: a later one may have the same id."""

    def __str__(self) -> str:
        return f"{self.url} (pid {self.pid})"


class StateFile:
    """The file of the server of this process."""

    def __init__(self) -> None:
        self._path: Path | None = None

    def write(self, server: Server, now: datetime) -> None:
        """Write it, for this user alone; those of servers that were killed are removed. Raise OSError."""
        running_servers()
        pid, url = os.getpid(), server.url
        if server.address[0] in ("0.0.0.0", "::"):
            from hydrofoil.server.kubeconfig import reachable

            url = reachable(url)
        needed = server.app.core.site.secured or url.startswith("https:")
        found = {
            "pid": pid,
            "url": url,
            "port": server.address[1],
            "since": now.isoformat(timespec="seconds"),
            "folder": os.getcwd(),  # noqa: PTH109 - the folder may be gone, which is an OSError here
            "kubeconfig": str(Path(server.kubeconfig).absolute()) if needed and server.kubeconfig else "",
            "begun": start_of(pid),
        }
        place = servers_folder()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = place / f".{pid}"
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(orjson.dumps(found))
        self._path = beside.replace(place / f"{pid}.json")

    def remove(self) -> None:
        """Remove it; again is no error."""
        path, self._path = self._path, None
        if path is not None:
            with contextlib.suppress(OSError):
                path.unlink()


def servers_folder() -> Path:
    """Return the folder of the files. Raise OSError."""
    return state_folder() / FOLDER


def running_servers() -> list[RunningServer]:
    """Return the servers of this user, the first started first; files of those that have ended are removed."""
    try:
        paths = list(servers_folder().glob("*.json"))
    except OSError:
        return []
    return sorted(_present(paths), key=lambda server: (server.since, server.pid))


def _present(paths: list[Path]) -> Iterator[RunningServer]:
    for path in paths:
        try:
            found = orjson.loads(path.read_bytes())
            server = RunningServer(**{**found, "since": datetime.fromisoformat(found["since"])})
        except (OSError, ValueError, TypeError, KeyError):
            # Being written, removed, or of another version.
            continue
        if is_running(server):
            yield server
        else:
            with contextlib.suppress(OSError):
                path.unlink()


def is_running(server: RunningServer) -> bool:
    """Report whether a server still runs: its process is there, and no other one with the same id."""
    return bool(server.begun) and start_of(server.pid) == server.begun


def start_of(pid: int) -> str:
    """Return the start of a process, in a form of the machine; empty if there is none, or it has ended."""
    try:
        # The name of the program, in parentheses, may have any character.
        state, *fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (OSError, ValueError):
        return "" if Path("/proc/self").exists() else _start_by_ps(pid)
    return "" if state in ("Z", "X") else fields[18]


def _start_by_ps(pid: int) -> str:
    """Return the start of a process where there is no /proc, as on macOS."""
    import subprocess

    line = ("ps", "-o", "lstart=", "-p", str(pid))
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=5).stdout.strip()
    return ""
