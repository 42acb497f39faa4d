"""Requests of controllers for objects that another server holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

import aiohttp
import orjson

from hydrofoil.aggregation.backends import Backends
from hydrofoil.apis.registration import Registration
from hydrofoil.errors import ApiError
from hydrofoil.outbound import bounds
from hydrofoil.outbound.proxy import identity
from hydrofoil.outbound.trust import Unreachable
from hydrofoil.request import User

SECONDS = 30.0
"""The timeout of a request."""
WATCH_SECONDS = 300
"""The life of a watch, as it is requested (reflectors of client-go: five to ten minutes)."""
PAGE = 500
"""The number of objects of a page (client-go `tools/pager`)."""
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
MERGE = "application/merge-patch+json"
UNSUPPORTED = (404, 405)
"""The statuses of a server without the resource, or without this verb."""
Metadata = dict[str, Any]


class Remote(NamedTuple):
    """A resource that another server serves."""

    registered: Registration
    plural: str
    kind: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def api_version(self) -> str:
        """Return the group version."""
        return f"{self.registered.group}/{self.registered.version}"

    @property
    def storage(self) -> tuple[str, str]:
        """Return a key that is the same for all versions, and that no resource of this server has."""
        return f"{self.registered.group}/", self.plural

    def path(self, namespace: str, name: str = "") -> str:
        """Return the path of an object, or of all; an empty namespace stands for all of them."""
        where = f"/namespaces/{namespace}" if namespace else ""
        return f"{self.registered.path}{where}/{self.plural}" + (f"/{name}" if name else "")


class RemoteClient:
    """A client of the servers behind API services, whose requests are those of a controller."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends

    async def read(self, remote: Remote, namespace: str, name: str, user: User) -> Metadata | None:
        """Return the metadata of an object; None if it is absent. Raise ApiError."""
        status, body = await self._ask("GET", remote, remote.path(namespace, name), user, accept=METADATA)
        return None if status == 404 else _metadata(_read(status, body))

    async def items(self, remote: Remote, namespace: str, user: User) -> tuple[str, list[Metadata]]:
        """Return the version of a list, and the metadata of its objects; none without the resource. Raise ApiError."""
        found: list[Metadata] = []
        query = {"limit": str(PAGE)}
        while True:
            path = f"{remote.path(namespace)}?{urlencode(query)}"
            status, body = await self._ask("GET", remote, path, user, accept=METADATA_LIST)
            if status in UNSUPPORTED:
                return "", []
            page = _read(status, body)
            found += [_metadata(item) for item in page.get("items") or ()]
            head = page.get("metadata") or {}
            if not head.get("continue"):
                return str(head.get("resourceVersion", "")), found
            query["continue"] = str(head["continue"])

    async def delete(
        self, remote: Remote, namespace: str, name: str, user: User, *, policy: str = "Background", uid: str = ""
    ) -> bool:
        """Delete an object, or without a name all; report whether the server supports it. Raise ApiError."""
        options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy}
        if uid:
            options["preconditions"] = {"uid": uid}
        status, body = await self._ask("DELETE", remote, remote.path(namespace, name), user, body=options)
        if status >= 400 and status not in UNSUPPORTED:
            _read(status, body)
        return status not in UNSUPPORTED

    async def patch(self, remote: Remote, namespace: str, name: str, metadata: Metadata, user: User) -> None:
        """Change members of an object's metadata by a merge patch, which every server takes. Raise ApiError."""
        body = {"metadata": metadata}
        _read(*await self._ask("PATCH", remote, remote.path(namespace, name), user, body=body, media=MERGE))

    async def watch(self, remote: Remote, version: str, user: User) -> AsyncIterator[tuple[str, Metadata]]:
        """Yield type and metadata of each event after a version, until the watch ends. Raise ApiError."""
        query = {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": version}
        query["timeoutSeconds"] = str(WATCH_SECONDS)
        path = f"{remote.path('')}?{urlencode(query)}"
        async with self._answer("GET", remote, path, user, accept=METADATA, seconds=WATCH_SECONDS + SECONDS) as answer:
            if answer.status != 200:
                _read(answer.status, await _body(answer))
            rest = b""
            async for piece in answer.content.iter_any():
                *lines, rest = (rest + piece).split(b"\n")
                if len(rest) > bounds.OBJECT:
                    raise ValueError("an event is too large")
                for line in lines:
                    if line.strip():
                        yield _event(await bounds.decode_json(line))

    async def _ask(self, verb: str, remote: Remote, path: str, user: User, **more: Any) -> tuple[int, Any]:
        """Return status and body of an answer; None for a body that is no JSON. Raise ApiError if there is none."""
        async with self._answer(verb, remote, path, user, **more) as answer:
            return answer.status, await _body(answer)

    @asynccontextmanager
    async def _answer(
        self,
        verb: str,
        remote: Remote,
        path: str,
        user: User,
        *,
        accept: str = "application/json",
        body: object = None,
        media: str = "application/json",
        seconds: float = SECONDS,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request; yield its answer, of which only the head has arrived.

        Raise ApiError 503 if there is none, or if it breaks off or cannot be read inside.
        """
        try:
            service = remote.registered.service
            if service is None:
                raise Unreachable("no service")
            session = await self._backends.connections(service).session()
            async with session.request(
                verb,
                f"https://{self._backends.locate(service)}{path}",
                data=None if body is None else orjson.dumps(body),
                headers=[("Accept", accept), ("Content-Type", media), *identity(user.name, groups=[*user.groups])],
                server_hostname=service.host,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=seconds),
            ) as answer:
                yield answer
        except (aiohttp.ClientError, OSError, TimeoutError, Unreachable, ValueError) as e:
            raise _unusable(503) from e


async def _body(answer: aiohttp.ClientResponse) -> Any:
    data = await bounds.read(answer, bounds.DOCUMENT)
    try:
        return await bounds.decode_json(data)
    except ValueError:
        return None


def _read(status: int, body: Any) -> Metadata:
    """Return the body of a success. Raise ApiError."""
    if not isinstance(body, dict) or (status >= 400 and not isinstance(body.get("message"), str)):
        raise _unusable(status)
    if status >= 400:
        raise ApiError(status, str(body.get("reason", "")), body["message"])
    return body


def _metadata(body: Any) -> Metadata:
    """Return the metadata of an object. Raise ApiError without any."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise _unusable(200)
    return metadata


def _event(body: Any) -> tuple[str, Metadata]:
    """Return type and metadata of an event; a bookmark's has no name. Raise ApiError for an error."""
    kind = body.get("type") if isinstance(body, dict) else None
    found = body["object"] if kind and isinstance(body.get("object"), dict) else None
    if found is None:
        raise _unusable(200)
    if kind == "ERROR":
        code = found.get("code")
        _read(code if isinstance(code, int) and code >= 400 else 500, found)
    if kind == "BOOKMARK":
        return kind, found.get("metadata") or {}
    return str(kind), _metadata(found)


def _unusable(status: int) -> ApiError:
    """Return what client-go makes of an answer that is no Status (`NewGenericServerResponse`)."""
    if status == 503:
        return ApiError(503, "ServiceUnavailable", "the server is currently unable to handle the request")
    return ApiError(status, "InternalError", "an error on the server has prevented the request from succeeding")
