"""The server that a command means, of those of this user that run."""

from __future__ import annotations

from collections.abc import Sequence

from hydrofoil.cli.failure import WRONG, Failure
from hydrofoil.server.state_file import RunningServer, running_servers

NONE = "no server runs"
STARTS = "hydrofoil serve starts one"


def only_server(mend: str) -> RunningServer:
    """Return the one server that runs. Raise Failure if there is none; with a mend if there are several."""
    found = running_servers()
    if not found:
        raise Failure(NONE, STARTS, WRONG)
    if len(found) > 1:
        raise several(found, mend)
    return found[0]


def several(found: Sequence[RunningServer], mend: str) -> Failure:
    """Return the failure of a command that means one server where several run."""
    return Failure(f"several servers run: {', '.join(map(str, found))}", mend, WRONG)


def named_servers(words: Sequence[str], ports: Sequence[str] = (), pids: Sequence[str] = ()) -> list[RunningServer]:
    """Return the servers of ports, ids of processes or URLs; a word may be any. Raise Failure if one does not run."""
    running = running_servers()
    asked = [
        *((word, "port, process or URL", ("port", "url", "pid")) for word in words),
        *((port, "port", ("port",)) for port in ports),
        *((pid, "process", ("pid",)) for pid in pids),
    ]
    found: list[RunningServer] = []
    for word, what, members in asked:
        meant = [s for name in members for s in running if str(getattr(s, name)).rstrip("/") == word.rstrip("/")]
        if not meant:
            known = f"there is {', '.join(map(str, running))}" if running else NONE
            raise Failure(f"no server with the {what} {word!r}", known, WRONG)
        found += [meant[0]] if meant[0] not in found else []
    return found
