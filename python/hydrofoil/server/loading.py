"""Objects as they were, with uid, times and owners of fields: stored without the steps of a create.

`hydrofoil import --keep-uids` sends them, many in a request, a line each, which costs some 50 microseconds; between two
of them the loop is left to others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.dumps.compare import is_first_object, is_own_object, same_content, same_state
from hydrofoil.dumps.head import read_head
from hydrofoil.endpoints.handlers import unstored
from hydrofoil.engine import ConversionError, DecodeError, Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer
from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import run
from hydrofoil.registry.fresh import as_api_errors
from hydrofoil.registry.store import Registry
from hydrofoil.server.completion import complete_object
from hydrofoil.storage.collection import Collection
from hydrofoil.storage.errors import Conflict, Exists, Missing

CONFLICTS = ("skip", "replace", "fail")
Outcome = tuple[str, str]
"""`created`, `updated`, `unchanged`, `skipped` or `failed`, and the reason of the latter two."""
EXISTS = "it exists, and differs"
OTHER = "it exists with another uid"


class Refusal(Exception):
    """Why an object cannot be stored."""


class Candidate(NamedTuple):
    """An object to be stored, and where."""

    resource: Resource
    namespace: str
    name: str
    line: bytes
    draft: Draft


class ObjectLoader:
    """Write objects as they are."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def load(self, body: bytes, on_conflict: str) -> list[Outcome]:
        """Store the objects of lines of JSON; return an outcome for each line."""
        pacer = Pacer()
        found: list[Outcome | asyncio.Task[Outcome]] = []
        for line in _lines(body):
            await pacer.pause()
            found.append(await self._load_line(line, on_conflict))
        return [await one if isinstance(one, asyncio.Task) else one for one in found]

    async def _load_line(self, line: bytes, on_conflict: str) -> Outcome | asyncio.Task[Outcome]:
        try:
            candidate = await run(self._read, line, pooled=len(line) > LARGE)
            self._check_namespace(candidate)
            await self._registry.to_storage_version(candidate.resource, candidate.draft)
            if len(line) > LARGE:
                await run(candidate.draft.seal, pooled=True)
            return await self._write(candidate, on_conflict)
        except Refusal as e:
            return "failed", str(e)
        except ApiError as e:
            return "failed", e.message

    def _read(self, line: bytes) -> Candidate:
        """Return the object of a line. Raise Refusal."""
        head = read_head(line)
        if head is None:
            raise Refusal("it is no object with apiVersion, kind and a name")
        group, _, version = head.api_version.rpartition("/")
        kind, name, namespace = head.kind, head.metadata.name, head.metadata.namespace
        resource = self._registry.catalog.by_kind.get((group, version, kind))
        if resource is None or unstored.handles(resource) or "create" not in resource.verbs:
            raise Refusal(f'no matches for kind "{kind}" in version "{head.api_version}"')
        if resource.namespaced != bool(namespace):
            raise Refusal("it has no namespace" if resource.namespaced else "it must not be in a namespace")
        if not all(is_path_segment(text) for text in (name, namespace or "default")):
            # What no path can name can never be read or deleted.
            raise Refusal(f"{name!r} is no name")
        try:
            draft, _ = resource.native.decode(line, "json")
            complete_object(draft, self._registry.clock, self._registry.chance)
        except DecodeError as e:
            raise Refusal(e.message) from None
        return Candidate(resource, namespace, name, line, draft)

    def _check_namespace(self, candidate: Candidate) -> None:
        """Raise Refusal for an object in a namespace that there is not: nobody would ever delete it."""
        if not candidate.namespace:
            return
        namespaces = self._registry.catalog.find("", "v1", "namespaces")
        if namespaces is not None:
            there = self._registry.collection(namespaces).get(namespaces.native, "", candidate.namespace)
            if there is None:
                raise Refusal(f'namespaces "{candidate.namespace}" not found')

    async def _write(self, candidate: Candidate, on_conflict: str) -> Outcome | asyncio.Task[Outcome]:
        """Store an object, or begin to where that takes time."""
        resource = candidate.resource
        collection = self._registry.collection(resource)
        if not collection.ready():
            with as_api_errors():
                await collection.wait()
        old = collection.get(resource.native, candidate.namespace, candidate.name)
        if old is None:
            work = self._create(collection, candidate)
            if self._registry.storage.at_once or (resource.group, resource.kind) == ("", "Namespace"):
                return await work
            # The disk takes many writes at once.
            return asyncio.create_task(work, name="loading an object")
        outcome = judge(candidate, old, on_conflict)
        return await self._replace(collection, old, candidate.draft) if outcome is None else outcome

    @staticmethod
    async def _create(collection: Collection, candidate: Candidate) -> Outcome:
        try:
            with as_api_errors():
                await collection.create(candidate.draft)
        except Exists:
            return "failed", "it was created meanwhile"
        except ApiError as e:
            return "failed", e.message
        return "created", ""

    @staticmethod
    async def _replace(collection: Collection, old: Stored, draft: Draft) -> Outcome:
        try:
            with as_api_errors():
                await collection.update(old, draft)
        except (Conflict, Missing):
            return "failed", "it was changed meanwhile"
        except ApiError as e:
            return "failed", e.message
        return "updated", ""


def judge(candidate: Candidate, old: Stored, on_conflict: str) -> Outcome | None:
    """Return what happens to an object whose name is taken; None if it replaces the other one."""
    resource = candidate.resource
    there = orjson.loads(old.json)
    try:
        # As it would be stored: with defaults, and without what the kind does not have.
        new = orjson.loads(candidate.draft.fork().json())
    except (ConversionError, DecodeError):
        new = orjson.loads(candidate.line)
    new.setdefault("metadata", {})
    if same_state(there, new):
        return "unchanged", ""
    names = resource.group, resource.kind
    is_own = is_own_object(*names, candidate.namespace, candidate.name, there)
    if (is_own or is_first_object(*names, candidate.name, there)) and same_content(there, new, status=False):
        # Only who it is differs.
        return None
    if is_own:
        return "unchanged", ""
    if on_conflict == "replace":
        return None
    reason = OTHER if same_content(there, new) and old.uid != candidate.draft.uid else EXISTS
    return ("failed" if on_conflict == "fail" else "skipped"), reason


def is_path_segment(name: str) -> bool:
    """Report whether a name can be in a path (apimachinery `IsValidPathSegmentName`)."""
    return bool(name) and name not in (".", "..") and not {"/", "%"} & set(name)


def _lines(body: bytes) -> Iterator[bytes]:
    return (line for line in body.split(b"\n") if line.strip())
