"""The logs that keep the same promises, each with a storage over it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hydrofoil import engine
from hydrofoil.apis.catalog import Catalog
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, ListCursor, Selector, Stored, Watcher
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.durable import DurableLog
from hydrofoil.storage.local import LocalLog
from hydrofoil.storage.log import Log
from hydrofoil.storage.storage import Storage
from hydrofoil.watch.hub import NOTHING
from tests.contract.late import LateLog, Truth
from tests.contract.linked import LinkedLog
from tests.etcd import Etcd, etcd_log

CATALOG = Catalog()
EVENTS = 16
"""How many writes the history holds."""
LOGS: dict[str, Callable[[str], Log]] = {
    "local": lambda _: LocalLog(),
    "late": lambda _: LateLog(Truth()),
    "durable": DurableLog,
    "link": lambda _: LinkedLog(LocalLog()),
    "durable link": lambda folder: LinkedLog(DurableLog(folder)),
}
"""The logs, each made for an empty folder."""
ALL = [*LOGS, pytest.param("etcd", marks=pytest.mark.program("etcd"))]
"""The names of all logs: `chosen` makes them."""


def chosen(request: pytest.FixtureRequest, folder: Path) -> Log:
    """Return the log of a fixture's parameter."""
    if request.param == "etcd":
        found: Etcd = request.getfixturevalue("etcd")
        return etcd_log(found.url)
    return LOGS[request.param](str(folder))


def native(group: str, version: str, plural: str) -> engine.ResourceType:
    """Return a built-in type."""
    found = CATALOG.find(group, version, plural)
    assert found
    return found.native


MAPS = native("", "v1", "configmaps")
SECRETS = native("", "v1", "secrets")
NAME = ("", "configmaps")
EVERYTHING = Selector(MAPS, "", "", "")


@asynccontextmanager
async def opened(log: Log) -> AsyncIterator[Storage]:
    """Yield a storage with its config maps loaded."""
    storage = Storage(log, Clock(), events=EVENTS)
    await storage.open()
    await maps_of(storage).wait()
    yield storage
    await storage.close()


def maps_of(storage: Storage) -> Collection:
    """Return the collection of config maps."""
    return storage.collection(NAME, MAPS)


def draft(name: str, namespace: str = "a", labels: dict[str, str] | None = None, uid: str = "", **data: str) -> Draft:
    """Return a config map."""
    body: dict[str, Any] = {"metadata": {"name": name, "namespace": namespace, "uid": uid or name}, "data": data}
    body["metadata"]["labels"] = labels or {}
    made, _ = MAPS.decode(json.dumps(body).encode(), "json")
    made.set_type()
    return made


def keys(found: list[Stored]) -> list[str]:
    """Namespaces and names."""
    return [f"{s.namespace}/{s.name}" for s in found]


def page(maps: Collection, limit: int, revision: int, start: str) -> ListCursor:
    """Return a page of all."""
    return maps.list(MAPS, EVERYTHING, "json", limit, revision, start)


def listed(maps: Collection, selector: Selector = EVERYTHING, revision: int = 0) -> list[str]:
    """Return the selected names at a revision."""
    return keys(maps.list(MAPS, selector, "json", 0, revision, "").versions(1000))


def watching(maps: Collection, revision: int | None, token: int = 1, selector: Selector = EVERYTHING) -> Watcher:
    """Return a watch from after a revision."""
    return maps.watch(MAPS, selector, "json", revision, token, False)


Seen = tuple[str, str, int]


def seen(watcher: Watcher) -> list[Seen]:
    """Return waiting events: kind of event, name, revision."""
    lines = b""
    left = None
    while left != NOTHING:
        data, left = watcher.drain(1 << 20)
        lines += data or b""
    events = [json.loads(line) for line in lines.splitlines()]
    return [
        (e["type"], e["object"]["metadata"]["name"], int(e["object"]["metadata"]["resourceVersion"])) for e in events
    ]
