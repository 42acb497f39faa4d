"""A registry over an empty store, without a server around it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.clock import Chance, Clock
from hydrofoil.engine import Draft
from hydrofoil.registry.store import Registry
from hydrofoil.storage.local import LocalLog
from hydrofoil.storage.storage import Storage

CATALOG = Catalog()
Object = dict[str, Any]


def resource(plural: str, group: str = "", version: str = "v1") -> Resource:
    """A built-in resource."""
    found = CATALOG.find(group, version, plural)
    assert found is not None
    return found


def draft(of: Resource, body: Object) -> Draft:
    """A decoded object."""
    made, strict = of.native.decode(json.dumps(body).encode(), "json")
    assert not strict
    return made


@asynccontextmanager
async def opened() -> AsyncIterator[Registry]:
    """A registry that nothing was written to."""
    clock = Clock()
    storage = Storage(LocalLog(), clock)
    await storage.open()
    yield Registry(CATALOG, storage, clock, Chance(1))
    await storage.close()
