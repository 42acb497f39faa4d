from hydrofoil.controls.record import Record as Record
from hydrofoil.controls.watching import WatchInfo as WatchInfo
from hydrofoil.testing.clock import Clock as Clock
from hydrofoil.testing.faults import Fault as Fault
from hydrofoil.testing.faults import Faults as Faults
from hydrofoil.testing.remote_server import RemoteServer as TestServer
from hydrofoil.testing.requests import Requests as Requests
from hydrofoil.testing.snapshot import Snapshot as Snapshot
from hydrofoil.testing.users import Account as Account

__all__ = ["Account", "Clock", "Fault", "Faults", "Record", "Requests", "Snapshot", "TestServer", "WatchInfo"]
