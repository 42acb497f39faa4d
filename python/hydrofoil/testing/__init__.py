"""A server in a test: embedded, reset in a millisecond, broken on purpose.

The public face in Python: `server.py` (in the caller's loop; `direct.py` takes calls of other threads), `thread.py`,
`process.py` (a child that ends with its parent), all calling `core.py` by the names of its methods, those about objects
through `objects.py`; `facts.py`, `requests.py` with `table.py`; `plugin.py` with `session_servers.py` (pytest),
`session.py` and `transport.py` (clients in memory, on `server/memory.py`). `silence.py` keeps the log from the handlers
of the root logger. The names that annotations need are here, for checkers of types in `__init__.pyi`.
"""

from __future__ import annotations

from typing import Any

from hydrofoil import load_name

__all__ = ["Account", "Clock", "Fault", "Faults", "Record", "Requests", "Snapshot", "TestServer", "WatchInfo"]
PLACES = {
    "Account": ("hydrofoil.testing.users", "Account"),
    "Clock": ("hydrofoil.testing.clock", "Clock"),
    "Fault": ("hydrofoil.testing.faults", "Fault"),
    "Faults": ("hydrofoil.testing.faults", "Faults"),
    "Record": ("hydrofoil.controls.record", "Record"),
    "Requests": ("hydrofoil.testing.requests", "Requests"),
    "Snapshot": ("hydrofoil.testing.snapshot", "Snapshot"),
    "TestServer": ("hydrofoil.testing.remote_server", "RemoteServer"),
    "WatchInfo": ("hydrofoil.controls.watching", "WatchInfo"),
}
"""The modules of public names, imported on first use: the plug-in must load nothing heavy."""


def __getattr__(name: str) -> Any:
    return load_name(globals(), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
