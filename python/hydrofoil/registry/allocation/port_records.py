"""The node ports in use, as several servers of one log share them (`/registry/ranges/servicenodeports`)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable

import orjson

from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.allocation.ranges import Ports
from hydrofoil.registry.objects import Objects
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.errors import Conflict, Exists, Missing

COLLECTION, NAME = ("", "ranges"), "servicenodeports"
TYPE = "io.k8s.api.core.v1.RangeAllocation"


class PortRecords:
    """One bit for each port of the range, in an object that is changed conditionally (`allocator/storage/storage.go`).

    A log with one server needs none: its services are the record.
    """

    def __init__(self, objects: Objects, ports: Ports, held: Callable[[], Iterable[int]]) -> None:
        """`held` returns the ports of the present services: the record begins with them."""
        self._objects = objects
        self._ports = ports
        self._held = held
        self._range = f"{ports.low}-{ports.high}"
        self._native = objects.catalog.kind("", "v1", "RangeAllocation", TYPE)
        self._collection: Collection | None = None

    @property
    def needed(self) -> bool:
        """Report whether other servers may write services."""
        return not self._objects.storage.direct

    async def take(self, ports: Iterable[int]) -> set[int]:
        """Record ports as used; if others use some of them, record none and return those. Raise StorageError."""
        wanted = self._bits(ports)
        used = 0

        def change(bits: int) -> int:
            nonlocal used
            used = bits & wanted
            return bits if used else bits | wanted

        if wanted:
            await self._change(change)
        return {port for port in ports if used >> (port - self._ports.low) & 1} if used else set()

    async def release(self, ports: Iterable[int]) -> None:
        """Record ports as unused. Raise StorageError."""
        unwanted = self._bits(ports)
        if unwanted:
            await self._change(lambda bits: bits & ~unwanted)

    async def repair(self, leaked: Iterable[int]) -> set[int]:
        """Record the ports of all services, and `leaked` as unused unless a service has them. Raise StorageError.

        Return the ports that are recorded as used and that no service has: a write may be under way, or one that was
        cut off left them.
        """
        unwanted, found = self._bits(leaked), 0

        def change(bits: int) -> int:
            nonlocal found
            held = self._bits(self._held())
            found = bits & ~held & ~unwanted
            return found | held

        await self._change(change)
        return {self._ports.low + at for at in range(found.bit_length()) if found >> at & 1}

    def _bits(self, ports: Iterable[int]) -> int:
        low, high = self._ports.low, self._ports.high
        return sum(1 << (port - low) for port in set(ports) if low <= port <= high)

    async def _change(self, change: Callable[[int], int]) -> None:
        """Change the bits, again after a write of another server."""
        collection = self._collection
        if collection is None:
            collection = self._collection = self._objects.storage.collection(COLLECTION, self._native)
        while True:
            if not collection.ready():
                await collection.wait()
            stored = collection.get(self._native, "", NAME)
            before = self._read(stored)
            after = change(before)
            if stored is not None and after == before:
                return
            try:
                if stored is None:
                    await collection.create(self._draft(after))
                else:
                    await collection.update(stored, self._set(stored.thaw(), after))
            except (Conflict, Exists, Missing):
                # Another server was faster: the view shows what it wrote.
                continue
            return

    def _read(self, stored: Stored | None) -> int:
        """Return the bits; those of the present services if there are none yet, or for another range.

        Ports that writes under way have chosen do not count: each records its own, or chooses another one.
        """
        body = orjson.loads(stored.json) if stored is not None else {}
        if body.get("range") != self._range:
            return self._bits(self._held())
        return int.from_bytes(base64.b64decode(body.get("data") or ""), "big")

    def _draft(self, bits: int) -> Draft:
        draft, _ = self._native.decode(orjson.dumps({"metadata": {"name": NAME}}), "json")
        draft.set_type()
        return self._set(draft, bits)

    def _set(self, draft: Draft, bits: int) -> Draft:
        data = bits.to_bytes((bits.bit_length() + 7) // 8, "big")
        draft.set(["range"], orjson.dumps(self._range))
        draft.set(["data"], orjson.dumps(base64.b64encode(data).decode()))
        return draft
