"""Objects as lines of JSON, and the data folder made of them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog
from hydrofoil.clock import Clock
from hydrofoil.engine import ConversionError, DataError, DecodeError, Encryption, ResourceType
from hydrofoil.storage.durable import DurableLog
from hydrofoil.storage.errors import Exists, StorageError, Unopened
from hydrofoil.storage.log import Name
from hydrofoil.storage.storage import Storage

DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
SKIPPED = 1_000_000_000
"""The revisions that the new folder skips above those of its objects."""
BATCH = 500
"""The objects that are written together."""


def parse_lines(file: str) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
    """Yield the number of each line, its bytes and the object. Raise DataError."""
    try:
        with Path(file).open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    body = orjson.loads(line)
                    name = body["metadata"]["name"]
                    known = all(isinstance(text, str) for text in (body["apiVersion"], body["kind"], name))
                except (ValueError, KeyError, TypeError):
                    known = False
                if not known:
                    raise DataError(f"{file}: line {number} is no object with apiVersion, kind and a name")
                yield number, line, body
    except OSError as e:
        raise DataError(f"{file}: {(e.strerror or str(e)).lower()}") from None


class Loader:
    """The types of all objects, and the storage that they are written to."""

    def __init__(self, file: str, storage: Storage) -> None:
        self._file = file
        self._storage = storage
        self._catalog = Catalog({"api/all": True})
        self._types: dict[tuple[str, str], tuple[Name, ResourceType]] = {}
        for resource in self._catalog.resources():
            self._types[resource.api_version, resource.kind] = resource.storage, resource.native
        self.count = 0

    async def write(self, number: int, line: bytes, body: dict[str, Any]) -> None:
        """Write one object. Raise DataError."""
        found = self._types.get((body["apiVersion"], body["kind"]))
        where = f"{self._file}: line {number}"
        if found is None:
            raise DataError(f"{where} has the unknown kind {body['kind']} of {body['apiVersion']}")
        (group, plural), native = found
        try:
            draft, _ = native.decode(line, "json")
            stored = await self._storage.collection((group, plural), native).create(draft)
        except DecodeError as e:
            raise DataError(f"{where}: {e.message}") from None
        except Exists:
            raise DataError(f"{where} has the name of an object before it") from None
        except StorageError as e:
            raise DataError(str(e)) from None
        self.count += 1
        if (body["apiVersion"], body["kind"]) == DEFINITION:
            spec = body["spec"]
            try:
                for version, made in self._catalog.native.custom(stored):
                    kind = f"{spec['group']}/{version}", spec["names"]["kind"]
                    # Custom resources have collections of their own (`Resource.storage`).
                    self._types[kind] = (spec["group"], f"{spec['names']['plural']}.{spec['group']}"), made
            except (ValueError, ConversionError, DecodeError) as e:
                raise DataError(f"{where}: {e}") from None


def load(file: str, folder: str, encryption: Encryption | None = None) -> tuple[int, int]:
    """Make a folder of the objects in a file; return their number, and the revision. Raise DataError."""
    newest, place = 0, Path(folder)
    for _, _, body in parse_lines(file):
        version = str(body["metadata"].get("resourceVersion", ""))
        newest = max(newest, int(version) if version.isdecimal() else 0)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise DataError(f"{folder}: it has files: objects are imported to a new folder")
    log = DurableLog(folder, None, after=newest + SKIPPED if newest else 0, encryption=encryption)
    try:
        return asyncio.run(_load_lines(file, log))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


async def _load_lines(file: str, log: DurableLog) -> tuple[int, int]:
    storage = Storage(log, Clock(), window=0.0, cache=0)
    try:
        await storage.open()
    except Unopened as e:
        raise DataError(str(e)) from None
    try:
        loader = Loader(file, storage)
        # Definitions first: the types of other objects are made of them.
        for definitions in (True, False):
            batch = []
            for number, line, body in parse_lines(file):
                if ((body["apiVersion"], body["kind"]) == DEFINITION) is definitions:
                    batch.append(loader.write(number, line, body))
                if len(batch) == BATCH:
                    await asyncio.gather(*batch)
                    batch.clear()
            await asyncio.gather(*batch)
        return loader.count, storage.revision
    finally:
        await storage.close()
