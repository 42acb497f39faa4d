"""A snapshot that a test holds."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Any

from hydrofoil.server.listening import StartError
from hydrofoil.testing.caller import Caller


class Snapshot:
    """The state of a server at one moment; it holds memory for later changes only."""

    def __init__(self, caller: Caller, number: int, revision: int) -> None:
        self._caller = caller
        self._number = number
        self._revision = revision
        self._drop = weakref.finalize(self, caller.post, "drop_snapshot", number)
        self._drop.atexit = False

    @property
    def resource_version(self) -> str:
        """Return the version of the state."""
        return str(self._revision)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, which starts servers."""
        self._caller.call("save", self._number, str(Path(path).absolute()))

    def bytes(self) -> bytes:
        """Return the state as a file has it."""
        saved: bytes = self._caller.call("saved", self._number)
        return saved

    def number_for(self, caller: Caller) -> int:
        """Return its number for the server that made it. Raise ValueError for another one."""
        if caller is not self._caller:
            raise ValueError("the snapshot is one of another server; start a server with snapshot=")
        return self._number

    def __repr__(self) -> str:
        return f"<Snapshot at version {self._revision}>"


def own_state(options: dict[str, Any]) -> dict[str, Any]:
    """Return options in which a snapshot of another server is its state. Raise StartError."""
    given = options.get("snapshot")
    if not isinstance(given, Snapshot):
        return options
    try:
        return {**options, "snapshot": given.bytes()}
    except RuntimeError:
        raise StartError("the server of the snapshot has stopped; a saved one starts others") from None
