"""Server-side apply of whole sets of objects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol
from urllib.parse import quote

import orjson

from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.controls.documents import Document, invalid, rank_documents
from hydrofoil.errors import ApiError

MANAGER = "hydrofoil"
JSON = "application/json"


class Reply(Protocol):
    """An answer to a request of the server to itself."""

    @property
    def status(self) -> int:
        """Return the code."""

    @property
    def body(self) -> bytes:
        """Return the whole body."""


Ask = Callable[[str, str, str, bytes], Awaitable[Reply]]
"""Send a request of the administrator: method, target, media type and body."""


def resource_of(catalog: Catalog, document: Document) -> Resource:
    """Return the resource of an object. Raise ApiError 404."""
    group, _, version = document.content["apiVersion"].rpartition("/")
    found = catalog.by_kind.get((group, version, document.content["kind"]))
    if found is None:
        kind = f'kind "{document.content["kind"]}" in version "{document.content["apiVersion"]}"'
        raise ApiError(404, "NotFound", f"{document.origin}: no matches for {kind}")
    return found


def path_of(resource: Resource, namespace: str, name: str = "") -> str:
    """Return the path of a collection, or of an object."""
    base = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    within = f"/namespaces/{quote(namespace)}" if resource.namespaced else ""
    return f"{base}{within}/{resource.plural}" + (f"/{quote(name, safe='')}" if name else "")


async def apply_objects(
    ask: Ask, catalog: Catalog, documents: Iterable[Document], namespace: str | None
) -> list[dict[str, Any]]:
    """Apply objects: definitions first, then namespaces, then the rest. Return them as they are stored.

    A namespace of the call replaces that of no object that has one. Raise ApiError with the origin of the object.
    """
    made = []
    for document in rank_documents(documents):
        metadata = document.content.get("metadata")
        if not isinstance(metadata, dict) or not (metadata.get("name") or metadata.get("generateName")):
            raise invalid(document.origin, "an object needs a name")
        resource = resource_of(catalog, document)
        within = str(metadata.get("namespace") or namespace or "default")
        name = str(metadata.get("name") or "")
        target = f"{path_of(resource, within, name)}?fieldManager={MANAGER}"
        body = orjson.dumps(document.content)
        if name:
            reply = await ask("PATCH", f"{target}&force=true", "application/apply-patch+yaml", body)
        else:
            reply = await ask("POST", target, JSON, body)
        answer = orjson.loads(reply.body)
        if reply.status >= 400:
            message = f"{document.origin}: {answer.get('message', '')}"
            raise ApiError(reply.status, answer.get("reason", ""), message, answer.get("details"))
        made.append(answer)
    return made
