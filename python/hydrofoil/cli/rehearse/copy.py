"""A copy of a cluster in this process: changes are made in it, and seen by nobody else."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from hydrofoil.admission.options import AdmissionOptions
from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.options import ApiOptions
from hydrofoil.apis.releases.release import Release
from hydrofoil.cli.failure import USAGE, Failure
from hydrofoil.cli.rehearse.client import JSON, Answer, MemoryClient
from hydrofoil.clock import Chance
from hydrofoil.controls.apply import MANAGER, Kinds, ObjectSet, path_of
from hydrofoil.controls.documents import Document
from hydrofoil.dumps.object import DumpedObject
from hydrofoil.errors import ApiError
from hydrofoil.options import Texts
from hydrofoil.server.dumped_log import Contents
from hydrofoil.server.parts.dumps import PATH
from hydrofoil.server.rehearsal import CONTROLLERS, WEBHOOKS, RehearsalConfig, RehearsalLog
from hydrofoil.server.run import Server, StartError

MARK = "hydrofoil.dev/rehearsal"
"""An annotation that no object has."""
PAGE = 500
"""The objects of one request."""
Object = dict[str, Any]


class Copy:
    """A server with the objects of a dump."""

    def __init__(self, server: Server, client: MemoryClient, problems: Sequence[str]) -> None:
        self._server = server
        self._client = client
        self.problems = problems
        """A line on each object that could not be taken."""
        core = server.app.core
        self.catalog = core.catalog
        self._kinds = Kinds(core.catalog, core.listeners)

    async def ask(
        self, method: str, target: str, body: Object | None = None, headers: Mapping[str, object] | None = None
    ) -> Answer:
        """Send a request of the administrator; return its answer."""
        return await self._client.ask(method, target, JSON, orjson.dumps(body) if body is not None else b"", headers)

    async def send(self, method: str, target: str, media: str, body: bytes) -> Answer:
        """Send a request with a body of any type."""
        return await self._client.ask(method, target, media, body)

    async def act(self, method: str, target: str, media: str, body: bytes, user: Mapping[str, object]) -> Answer:
        """Send a request as a user, whom header lines name."""
        return await self._client.ask(method, target, media, body, user)

    async def settle(self) -> None:
        """Wait until the controllers have processed all writes."""
        await self._server.settle()

    def find(self, api_version: str, kind: str) -> Resource | None:
        """Return a resource that is served."""
        group, _, version = api_version.rpartition("/")
        return self.catalog.by_kind.get((group, version, kind))

    async def wait_for(self, group: str, version: str, kind: str) -> None:
        """Wait until a resource is served, a while at most."""
        await self._kinds.find(group, version, kind, True)

    def path(self, found: DumpedObject) -> str:
        """Return the path of an object of the dump; empty if its kind is not served."""
        resource = self.find(found.api_version, found.kind)
        return path_of(resource, found.namespace, found.name) if resource is not None else ""

    def set_of(self, documents: Iterable[Document], manager: str = MANAGER, *, force: bool = True) -> ObjectSet:
        """Return objects to be applied, in their order."""
        return ObjectSet(self.send, self._kinds.find, documents, self.settle, manager=manager, force=force)

    async def apply(self, documents: Iterable[Document]) -> list[Object]:
        """Apply all objects; return a line on each that is refused."""
        refused: list[Object] = []
        wanted = self.set_of(documents)
        for document in wanted.documents:
            try:
                await wanted.apply(document, None)
            except ApiError as e:
                refused.append({**identify(document.content), "code": e.code, "reason": e.message})
        await self.settle()
        return refused

    async def pages(self, path: str, accept: str = JSON) -> AsyncIterator[Object]:
        """Yield the pages of a list. Raise ApiError."""
        token = ""
        while True:
            more = f"&continue={token}" if token else ""
            answer = await self.ask("GET", f"{path}?limit={PAGE}{more}", headers={"Accept": accept})
            content = answer.content()
            if answer.status != 200:
                raise ApiError(answer.status, content.get("reason", ""), content.get("message", ""))
            yield content
            token = content["metadata"].get("continue") or ""
            if not token:
                return

    async def rewrite(self, items: Sequence[Object], *, keeps_mark: bool = False) -> list[str]:
        """Store objects in the version that they are in; return why one cannot be, or nothing, for each.

        `keeps_mark`: with an annotation that they do not have. What is equal in its version is not written, so that it
        would stay as it was in the version where it is stored.
        """
        reasons = await self.load([orjson.dumps(mark(item)) for item in items])
        return reasons if keeps_mark or any(reasons) else await self.load([orjson.dumps(item) for item in items])

    async def load(self, lines: Sequence[bytes]) -> list[str]:
        """Store objects as they are, over those that are there; return why one cannot be, or nothing, for each."""
        found: list[str] = []
        for start in range(0, len(lines), PAGE):
            body = b"\n".join(lines[start : start + PAGE])
            answer = await self.send("POST", f"{PATH}?onConflict=replace", JSON, body)
            found += [reason for _, reason in answer.content()["items"]]
        return found


def mark(content: Object) -> Object:
    """Return an object with the least change: an annotation."""
    metadata = content["metadata"]
    return {**content, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), MARK: ""}}}


def identify(content: Object) -> Object:
    """Return the members of a line of a report that name an object."""
    metadata = content.get("metadata")
    given = metadata if isinstance(metadata, dict) else {}
    names = {name: str(given.get(name) or "") for name in ("namespace", "name")}
    return {"apiVersion": content.get("apiVersion", ""), "kind": content.get("kind", ""), **names}


@asynccontextmanager
async def start_copy(
    contents: Contents,
    given: Mapping[str, Any],
    *,
    webhooks: bool = False,
    modes: tuple[str, ...] = ("AlwaysAllow",),
) -> AsyncIterator[Copy]:
    """Run a server with the objects of a dump, and the flags of a command line. Raise Failure."""
    options = {**vars(AdmissionOptions.pick(given)), **vars(ApiOptions.pick(given))}
    if not webhooks:
        options["disable_admission_plugins"] = Texts((*options["disable_admission_plugins"], *WEBHOOKS))
        options["enable_admission_plugins"] = Texts(
            name for name in options["enable_admission_plugins"] if name not in WEBHOOKS
        )
    with tempfile.TemporaryDirectory(prefix="hydrofoil-rehearse-") as folder:
        config = RehearsalConfig(
            calls_webhooks=webhooks,
            # Nobody else reaches it.
            unix_socket=str(Path(folder) / "socket"),
            controllers=CONTROLLERS,
            enable_priority_and_fairness=False,
            authorization_mode=Texts(modes),
            **options,
        )
        chance = Chance()
        log = RehearsalLog(contents, Release.of(config.emulated_version, config.feature_gates), chance)
        server = Server(config, log, chance=chance)
        try:
            await server.start()
        except StartError as e:
            raise Failure(str(e), code=USAGE) from None
        client = MemoryClient(server.connect, server.app.core.site.authority)
        try:
            await server.settle()
            yield Copy(server, client, log.problems)
        finally:
            client.close()
            await server.stop()
