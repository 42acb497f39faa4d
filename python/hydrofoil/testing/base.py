"""The members of every form of a test server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hydrofoil.controls.documents import Source, resolve_path
from hydrofoil.controls.watching import WatchInfo
from hydrofoil.request import ADMIN
from hydrofoil.testing.caller import Caller
from hydrofoil.testing.clock import Clock
from hydrofoil.testing.facts import Facts
from hydrofoil.testing.faults import Faults
from hydrofoil.testing.options import check
from hydrofoil.testing.requests import Journal
from hydrofoil.testing.snapshot import Snapshot
from hydrofoil.testing.users import Account, Folder


class Base:
    """A server: its addresses, users, states, time, faults and requests."""

    caller: Caller

    def __init__(self, options: dict[str, Any]) -> None:
        """Raise TypeError for an option that does not exist."""
        check(options)
        self._options = options
        self._facts: Facts | None = None
        self.files = Folder()
        """The kubeconfigs that were asked for."""
        self.folder: Path | None = None
        """The folder at which relative paths begin: in pytest that of the test, otherwise the working folder."""
        self._users = 0
        self.users: dict[str, Account] = {}
        """The users that a marker of the pytest plug-in names."""

    def _begin(self, caller: Caller, facts: Facts) -> None:
        self.caller = caller
        self._facts = facts
        self.clock = Clock(caller)
        self.faults = Faults(caller)
        self.requests = Journal(caller)

    def resolve(self, sources: Sequence[Source]) -> list[Source]:
        """Return sources whose paths are absolute: the server may run in a process with another working folder."""
        return [resolve_path(source, self.folder or Path()) for source in sources]

    def _end(self) -> None:
        self._facts = None
        self.files.remove()

    @property
    def facts(self) -> Facts:
        """Return what is known of a server that has started. Raise RuntimeError before and after."""
        if self._facts is None:
            raise RuntimeError("the server is not running")
        return self._facts

    @property
    def runs(self) -> bool:
        """Report whether it has started and not ended."""
        return self._facts is not None

    @property
    def url(self) -> str:
        """Return the address: `http://127.0.0.1:PORT`."""
        return self.facts.url

    @property
    def host(self) -> str:
        """Return the host of the address."""
        return self.facts.host

    @property
    def port(self) -> int:
        """Return the port of the address."""
        return self.facts.port

    @property
    def ca(self) -> str | None:
        """Return the authority of the server's certificate in PEM; None over plain HTTP."""
        return self.facts.ca

    @property
    def _admin(self) -> Account:
        return Account(ADMIN.name, ADMIN.groups, self.facts.admin, self.files, "admin")

    @property
    def headers(self) -> dict[str, str]:
        """Return the HTTP headers of the administrator."""
        return self._admin.headers

    @property
    def kubeconfig(self) -> dict[str, Any]:
        """Return the kubeconfig of the administrator."""
        return self._admin.kubeconfig

    @property
    def kubeconfig_file(self) -> Path:
        """Return the path of the administrator's kubeconfig, gone after `stop`."""
        return self._admin.kubeconfig_file

    def user(self, name: str, groups: Iterable[str] = ()) -> Account:
        """Return a user that has no rights but those that roles give it."""
        members = (groups,) if isinstance(groups, str) else tuple(groups)
        credentials = self.caller.call("account", name, members)
        self._users += 1
        return Account(name, members, credentials, self.files, f"user-{self._users}")

    def snapshot(self) -> Snapshot:
        """Return the present state."""
        number, revision = self.caller.call("snapshot")
        return Snapshot(self.caller, number, revision)

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a state of this server: watches receive the differences as events.

        Raise ValueError for a snapshot of another server, TypeError for anything else.
        """
        if not isinstance(snapshot, Snapshot):
            raise TypeError(f"{snapshot!r} is no Snapshot; a server starts with a saved one: snapshot=path")
        self.caller.settled("restore", snapshot.number_for(self.caller))

    def reset(self) -> None:
        """Return to the state at readiness, without faults and requests, at real time, with the seed from its start."""
        self.caller.settled("reset")

    def restart(self) -> None:
        """Restart, as clients see it: connections break, and older versions and continue tokens are 410.

        The address, objects, users, faults, requests and the time stay. `faults.add("down")` keeps it away for a while.
        """
        self.caller.settled("restart")

    def compact(self) -> None:
        """End the history now: older versions and continue tokens are 410, open watches go on."""
        self.caller.call("compact")

    @property
    def watches(self) -> list[WatchInfo]:
        """Return the open watches."""
        found: list[WatchInfo] = self.caller.call("watches")
        return found

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._facts.url}>" if self._facts else f"<{type(self).__name__}, not running>"
