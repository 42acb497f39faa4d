"""Server-side apply of whole sets of objects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

import orjson

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controls.documents import Document, invalid, rank_documents
from hydrofoil.controls.waiting import until_served, within
from hydrofoil.errors import ApiError

MANAGER = "hydrofoil"
JSON = "application/json"
DEFINITION, NAMESPACE = FIRST = "CustomResourceDefinition", "Namespace"
"""The kinds that are applied before all others."""
SERVED_SECONDS = 10.0
"""The time that a new definition has until its objects are served: on etcd, the server learns of it by an event."""


class Reply(Protocol):
    """An answer to a request of the server to itself."""

    @property
    def status(self) -> int:
        """Return the code."""

    @property
    def body(self) -> bytes:
        """Return the whole body."""


class Served(Protocol):
    """What is known of a resource that is served."""

    @property
    def group(self) -> str:
        """Return its group; empty for the core."""

    @property
    def version(self) -> str:
        """Return its version."""

    @property
    def plural(self) -> str:
        """Return its name in paths."""

    @property
    def namespaced(self) -> bool:
        """Report whether its objects are in namespaces."""

    @property
    def subresources(self) -> Collection[str]:
        """Return its subresources."""


Ask = Callable[[str, str, str, bytes], Awaitable[Reply]]
"""Send a request of the administrator: method, target, media type and body."""
Find = Callable[[str, str, str, bool], Awaitable[Served | None]]
"""Return the resource of group, version and kind; the flag says that its definition has just been applied."""


class Applied(NamedTuple):
    """An object that was applied."""

    path: str
    content: dict[str, Any]
    """As it is stored."""
    resource: Served
    created: bool
    """Whether it was not there before."""


class Kinds:
    """The kinds of a server, as it finds them for itself."""

    def __init__(self, catalog: Catalog, listeners: list[Callable[[], None]]) -> None:
        """Call back through `listeners` when resources are added."""
        self._catalog = catalog
        self._listeners = listeners

    async def find(self, group: str, version: str, kind: str, coming: bool) -> Served | None:
        """Return the resource of a kind; one that is coming is waited for. None if none is served."""
        key = group, version, kind
        if coming:
            await within(SERVED_SECONDS, until_served(self._listeners, lambda: self._catalog.by_kind.get(key)))
        return self._catalog.by_kind.get(key)


def path_of(resource: Served, namespace: str, name: str = "") -> str:
    """Return the path of a collection, or of an object; without a namespace, of all of them."""
    base = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    within = f"/namespaces/{quote(namespace)}" if resource.namespaced and namespace else ""
    return f"{base}{within}/{resource.plural}" + (f"/{quote(name, safe='')}" if name else "")


def body_of(reply: Reply, origin: str = "") -> dict[str, Any]:
    """Return the object of an answer. Raise ApiError, with the origin of what was sent in front."""
    answer: dict[str, Any] = orjson.loads(reply.body)
    if reply.status >= 400:
        message = f"{origin}: {answer.get('message', '')}" if origin else str(answer.get("message", ""))
        raise ApiError(reply.status, answer.get("reason", ""), message, answer.get("details"))
    return answer


class ObjectSet:
    """Objects to be applied, in the order in which they can be: definitions, then namespaces, then the rest."""

    def __init__(
        self,
        ask: Ask,
        find: Find,
        documents: Iterable[Document],
        settle: Callable[[], Awaitable[None]] | None = None,
        *,
        manager: str = MANAGER,
        force: bool = True,
    ) -> None:
        """`settle` waits for the controllers: they make what objects in a new namespace need.

        `force`: fields of other managers are taken.
        """
        self._ask = ask
        self._query = f"fieldManager={quote(manager, safe='')}"
        self.force = force
        self._settle = settle
        self._unsettled = False
        self._find = find
        self.documents = rank_documents(documents)
        self._defined = {
            (spec.get("group"), (spec.get("names") or {}).get("kind"))
            for document in self.documents
            if document.content["kind"] == DEFINITION and isinstance(spec := document.content.get("spec"), dict)
        }

    async def apply(self, document: Document, namespace: str | None, *, status: bool = False) -> Applied:
        """Apply one of the objects; `status`: its status, too. Raise ApiError with its origin.

        The namespace is that of an object which names none.
        """
        content, origin = document.content, document.origin
        metadata = content.get("metadata")
        if not isinstance(metadata, dict) or not (metadata.get("name") or metadata.get("generateName")):
            raise invalid(origin, "an object needs a name")
        group, _, version = content["apiVersion"].rpartition("/")
        resource = await self._find(group, version, content["kind"], (group, content["kind"]) in self._defined)
        if resource is None:
            kind = f'kind "{content["kind"]}" in version "{content["apiVersion"]}"'
            raise ApiError(404, "NotFound", f"{origin}: no matches for {kind}")
        if self._settle is not None and self._unsettled and content["kind"] not in FIRST:
            self._unsettled = False
            await self._settle()
        within = str(metadata.get("namespace") or namespace or "default")
        name = str(metadata.get("name") or "")
        path = path_of(resource, within, name)
        if name:
            reply = await self._patch(path, content)
        else:
            reply = await self._ask("POST", f"{path}?{self._query}", JSON, orjson.dumps(content))
        answer, created = body_of(reply, origin), reply.status == 201
        self._unsettled |= content["kind"] == NAMESPACE
        path = path_of(resource, within, str(answer["metadata"]["name"]))
        if status and "status" in content and "status" in resource.subresources:
            identity = {key: value for key, value in answer["metadata"].items() if key in ("name", "namespace")}
            own = {"apiVersion": content["apiVersion"], "kind": content["kind"], "metadata": identity}
            reply = await self._patch(f"{path}/status", {**own, "status": content["status"]})
            answer = body_of(reply, f"{origin}, its status")
        return Applied(path, answer, resource, created)

    async def _patch(self, path: str, content: dict[str, Any]) -> Reply:
        target = f"{path}?{self._query}{'&force=true' if self.force else ''}"
        return await self._ask("PATCH", target, "application/apply-patch+yaml", orjson.dumps(content))


async def apply_objects(
    ask: Ask,
    find: Find,
    documents: Iterable[Document],
    namespace: str | None,
    settle: Callable[[], Awaitable[None]],
    *,
    status: bool = False,
) -> list[dict[str, Any]]:
    """Apply objects, the first fault ends it. Return them as they are stored. Raise ApiError with the origin."""
    found = ObjectSet(ask, find, documents, settle)
    return [(await found.apply(document, namespace, status=status)).content for document in found.documents]
