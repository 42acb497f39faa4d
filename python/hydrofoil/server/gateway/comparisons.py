"""Views without an event or a bookmark: a list at the upstream tells that they are what the upstream has."""

from __future__ import annotations

import asyncio
import json

import orjson

from hydrofoil.clock import stopwatch
from hydrofoil.engine import Selector
from hydrofoil.pool import retrieve_result
from hydrofoil.server.gateway.client import Upstream
from hydrofoil.server.gateway.mirrors import Mirror
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.log import Name
from hydrofoil.storage.upstream.requests import Failed

SECONDS = 10.0
PAUSE_SECONDS = 1.0
"""The least time between two comparisons of a resource."""
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


class Comparisons:
    """What lists have shown of views.

    A view whose objects have the versions of a list is that state, although the versions of other resources have passed
    it. Its own version stays below that of the list: an object that came and went in between is an event still to come.
    """

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._tasks: dict[Name, asyncio.Task[None]] = {}
        self._equal: dict[Name, tuple[int, int]] = {}
        """The version of a view, and that of the list that it equals."""
        self._ended: dict[Name, float] = {}

    def covers(self, mirror: Mirror, collection: Collection, revision: int) -> bool:
        """Report whether a view is the upstream's state at a version, or at a later one."""
        here, there = self._equal.get(mirror.name, (-1, 0))
        return here == collection.revision and there >= revision

    def begin(self, mirror: Mirror, collection: Collection) -> asyncio.Task[None] | None:
        """Compare a view with the upstream, once for all who wait; None if it was compared a moment ago."""
        name = mirror.name
        task = self._tasks.get(name)
        if task is None and stopwatch() - self._ended.get(name, -PAUSE_SECONDS) >= PAUSE_SECONDS:
            task = self._tasks[name] = asyncio.create_task(self._compare(mirror, collection), name="comparison")
            task.add_done_callback(retrieve_result)
        return task

    async def _compare(self, mirror: Mirror, collection: Collection) -> None:
        name, native = mirror.name, mirror.resource.native
        try:
            answer = await self._upstream.get(mirror.path, SECONDS, accept=METADATA)
            if answer.status != 200:
                return
            document = await asyncio.to_thread(orjson.loads, answer.body)
            metadata = [item["metadata"] for item in document.get("items") or ()]
            there = {(m.get("namespace", ""), m["name"]): int(m["resourceVersion"]) for m in metadata}
            before = collection.revision
            cursor = collection.list(native, Selector(native, "", "", ""), "json", 0, 0, "")
            here = await asyncio.to_thread(lambda: {(o.namespace, o.name): o.revision for o in cursor.versions(2**31)})
            if here == there and collection.revision == before:
                self._equal[name] = before, int(document["metadata"]["resourceVersion"])
        except (Failed, json.JSONDecodeError, KeyError, TypeError, ValueError):
            # The reads go to the upstream.
            return
        finally:
            del self._tasks[name]
            self._ended[name] = stopwatch()

    async def close(self) -> None:
        """Stop."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
