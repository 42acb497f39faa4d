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
from hydrofoil.pace.pacer import AnswerPacer
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
CREATED: Outcome = ("created", "")
EXISTS = "it exists, and differs"
OTHER = "it exists with another uid"


class Refusal(Exception):
    """Why an object cannot be stored."""


class Candidate(NamedTuple):
    """An object to be stored, and where."""

    resource: Resource
    namespace: str
    name: str
    uid: str
    """As it was sent; empty if the dump does not say."""
    line: bytes
    draft: Draft


class ObjectLoader:
    """Write objects as they are."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    async def load(self, body: bytes, on_conflict: str) -> list[Outcome]:
        """Store the objects of lines of JSON; return an outcome for each line."""
        # It has the share of a large answer: it is one, whose making takes longer than its bytes.
        pacer = AnswerPacer()
        found: list[Outcome | asyncio.Task[Outcome]] = []
        namespaces = set[str]()
        for line in _lines(body):
            await pacer.pause()
            found.append(await self._load_line(line, on_conflict, namespaces))
        return [await one if isinstance(one, asyncio.Task) else one for one in found]

    async def _load_line(self, line: bytes, on_conflict: str, namespaces: set[str]) -> Outcome | asyncio.Task[Outcome]:
        """Store the object of a line; `namespaces` are those that were there a moment ago."""
        is_large = len(line) > LARGE
        try:
            candidate = await run(self._read, line, pooled=True) if is_large else self._read(line)
            if candidate.namespace and candidate.namespace not in namespaces:
                self._check_namespace(candidate)
                namespaces.add(candidate.namespace)
            if candidate.resource.webhook is not None:
                await self._registry.to_storage_version(candidate.resource, candidate.draft)
            if is_large:
                await run(candidate.draft.seal, pooled=True)
            with as_api_errors():
                return await self._write(candidate, on_conflict)
        except Refusal as e:
            return "failed", str(e)
        except (Conflict, Missing, Exists):
            return "failed", "it was changed meanwhile"
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
        return Candidate(resource, namespace, name, head.metadata.uid, line, draft)

    def _check_namespace(self, candidate: Candidate) -> None:
        """Raise Refusal for an object in a namespace that there is not: nobody would ever delete it."""
        namespaces = self._registry.catalog.find("", "v1", "namespaces")
        if namespaces is not None:
            there = self._registry.collection(namespaces).get(namespaces.native, "", candidate.namespace)
            if there is None:
                raise Refusal(f'namespaces "{candidate.namespace}" not found')

    async def _write(self, candidate: Candidate, on_conflict: str) -> Outcome | asyncio.Task[Outcome]:
        """Store an object, or begin to where that takes time. Raise the errors of the storage."""
        resource = candidate.resource
        collection = self._registry.collection(resource)
        if not collection.ready():
            await collection.wait()
        old = collection.get(resource.native, candidate.namespace, candidate.name)
        if old is not None:
            outcome = judge(candidate, old, on_conflict)
            if outcome is not None:
                return outcome
            await collection.update(old, candidate.draft)
            return "updated", ""
        if self._registry.storage.at_once or (resource.group, resource.kind) == ("", "Namespace"):
            await collection.create(candidate.draft)
            return CREATED
        # The disk takes many writes at once.
        return asyncio.create_task(create_object(collection, candidate.draft), name="loading an object")


async def create_object(collection: Collection, draft: Draft) -> Outcome:
    """Store an object beside others; return the outcome."""
    try:
        with as_api_errors():
            await collection.create(draft)
    except Exists:
        return "failed", "it was created meanwhile"
    except ApiError as e:
        return "failed", e.message
    return CREATED


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
    is_same = same_content(there, new)
    if same_state(there, new) or (is_same and candidate.uid in ("", old.uid)):
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
    reason = OTHER if is_same else EXISTS
    return ("failed" if on_conflict == "fail" else "skipped"), reason


def is_path_segment(name: str) -> bool:
    """Report whether a name can be in a path (apimachinery `IsValidPathSegmentName`)."""
    return bool(name) and name not in (".", "..") and not {"/", "%"} & set(name)


def _lines(body: bytes) -> Iterator[bytes]:
    return (line for line in body.split(b"\n") if line.strip())
