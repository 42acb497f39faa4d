"""The servers of a test session: one for each set of options, clean for every test."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydrofoil.testing.options import OF_MARKERS
from hydrofoil.testing.remote_server import RemoteServer
from hydrofoil.testing.report import Seen, sections
from hydrofoil.testing.snapshot import Snapshot


def flags_of(text: str) -> dict[str, Any]:
    """Return a command line of flags as options; a flag that is repeated is a list. Raise ValueError."""
    found: dict[str, Any] = {}
    words = shlex.split(text)
    while words:
        name, equals, value = words.pop(0).partition("=")
        if not name.startswith("-"):
            raise ValueError(f"{name!r} in hydrofoil_options is no flag")
        if not equals:
            value = words.pop(0) if words and not words[0].startswith("-") else "true"
        key = name.lstrip("-").replace("-", "_")
        if key in found:
            before = found[key]
            found[key] = [*(before if isinstance(before, list) else [before]), value]
        else:
            found[key] = value
    return found


def _several(given: Any, one: Any) -> Sequence[Any]:
    """Return the values of a key of the marker, which may be one alone."""
    return [given] if isinstance(given, one) else given or ()


class SessionServers:
    """Servers by their options, started when a test first needs them."""

    def __init__(self, options: Mapping[str, Any], manifests: Sequence[Path], *, in_process: bool) -> None:
        self._options = dict(options)
        self._manifests = manifests
        self._in_process = in_process
        self._servers: dict[str, RemoteServer] = {}

    def get(self, options: Mapping[str, Any]) -> RemoteServer:
        """Return the server with these options beside those of the session."""
        given = {**self._options, **options}
        key = repr(sorted(given.items(), key=lambda item: item[0]))
        server = self._servers.get(key)
        if server is None:
            server = self.new(given)
        if not server.runs:
            # A test may have stopped it, or killed its process.
            server.stop()
            server.start()
            self._servers[key] = server
            if self._manifests:
                server.apply(*self._manifests)
        return server

    def new(self, options: dict[str, Any]) -> RemoteServer:
        """Return a server, which has not started; only one in this process loads the libraries of servers."""
        if self._in_process:
            from hydrofoil.testing.process import ProcessServer

            return ProcessServer(options)
        from hydrofoil.testing.thread import ThreadServer

        return ThreadServer(options)

    def use(self, marked: Mapping[str, Any], folder: Path) -> Used:
        """Return the server for a test with a marker; paths in it start at a folder."""
        server = self.get({key: value for key, value in marked.items() if key not in OF_MARKERS})
        return Used(server, marked, folder)

    def stop(self) -> None:
        """Stop all servers."""
        for server in self._servers.values():
            server.stop()
        self._servers.clear()


class Used:
    """The use of a server by one test."""

    def __init__(self, server: RemoteServer, marked: Mapping[str, Any], folder: Path) -> None:
        self.server = server
        self._marked = marked
        self._folder = folder
        self._before: Snapshot | None = None
        self._seen: Seen | None = None
        self.unmatched: list[str] = []
        """The faults of the test that no request matched, once it has ended."""

    def begin(self) -> None:
        """Take the state to return to, and apply the arguments of the marker."""
        server, marked = self.server, self._marked
        number, revision = server.caller.call("begin_test")
        self._before = Snapshot(server.caller, number, revision)
        server.users = {}
        server.files.renew()
        server.folder = self._folder
        sources = [*self._sources("crds"), *self._sources("manifests")]
        if sources:
            server.apply(*sources)
        for user in _several(marked.get("users"), str):
            name, groups = (user, ()) if isinstance(user, str) else user
            server.users[name] = server.user(name, groups)
        for fault in _several(marked.get("faults"), dict):
            server.faults.add(**fault)

    def _sources(self, key: str) -> list[Any]:
        return list(_several(self._marked.get(key), str | os.PathLike | dict))

    def end(self) -> None:
        """Return to the state before the test."""
        before, self._before = self._before, None
        self.server.folder = None
        if before is not None and self.server.runs:
            self.unmatched = self.server.caller.call("unmatched_faults")
            self._seen = Seen(*self.server.caller.call("end_test", before.number_for(self.server.caller)))
            self.server.users = {}

    def sections(self, count: int) -> list[tuple[str, str]]:
        """Return the sections of a report, with the last requests."""
        before = self._before
        if before is not None and self.server.runs:
            self._seen = Seen(*self.server.caller.call("seen", before.number_for(self.server.caller)))
        return [] if self._seen is None else sections(self._seen, count)
