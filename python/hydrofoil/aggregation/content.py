"""Objects in a namespace that other servers hold, as a controller reaches them through discovery and the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import aiohttp
import orjson

from hydrofoil.aggregation.backends import Backends
from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.apis.registration import Registration
from hydrofoil.errors import ApiError
from hydrofoil.outbound import bounds
from hydrofoil.outbound.proxy import identity
from hydrofoil.outbound.trust import Unreachable
from hydrofoil.request import User

SECONDS = 30.0
"""The timeout of a request."""
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
UNSUPPORTED = (404, 405)
"""The statuses of a server without the resource, or without this verb."""


class Remote(NamedTuple):
    """A resource that another server serves."""

    registered: Registration
    plural: str
    verbs: frozenset[str]


class RemoteContent:
    """The namespaced resources behind API services, and requests for their objects."""

    def __init__(self, registrations: Registrations, backends: Backends) -> None:
        self._registrations = registrations
        self._backends = backends

    def versions(self) -> dict[str, list[str]]:
        """Return the versions of each registered group, the preferred one first."""
        return self._registrations.groups()

    def unknown(self) -> list[str]:
        """Return the group versions, `group/version`, whose resources are not known at present, in order."""
        found = self._registrations.remote.values()
        return sorted(f"{r.group}/{r.version}" for r in found if self._entry(r).get("freshness") != "Current")

    def resources(self, group: str, version: str) -> Iterator[Remote]:
        """Yield the namespaced resources of a group version whose objects can be deleted."""
        registered = self._registrations.remote.get((group, version))
        if registered is None or (entry := self._entry(registered)).get("freshness") != "Current":
            return
        for found in entry.get("resources") or ():
            verbs = frozenset(found.get("verbs") or ())
            if found.get("scope") == "Namespaced" and "delete" in verbs:
                yield Remote(registered, found["resource"], verbs)

    def _entry(self, registered: Registration) -> dict[str, Any]:
        return self._registrations.discovered.get(registered.name, {})

    async def delete(self, remote: Remote, namespace: str, user: User) -> None:
        """Delete all objects of a resource in a namespace (`deleteCollection`, `deleteEachItem`). Raise ApiError."""
        if "deletecollection" in remote.verbs and await self._delete(remote, namespace, "", user):
            return
        for metadata in await self.left(remote, namespace, user):
            await self._delete(remote, namespace, str(metadata["name"]), user)

    async def left(self, remote: Remote, namespace: str, user: User) -> list[dict[str, Any]]:
        """Return the metadata of the objects of a resource in a namespace. Raise ApiError."""
        if "list" not in remote.verbs:
            return []
        status, body = await self._ask("GET", remote, f"namespaces/{namespace}/{remote.plural}", user)
        if status in UNSUPPORTED:
            return []
        try:
            if status != 200:
                raise ApiError(status, body.get("reason", ""), body["message"])
            return [item["metadata"] for item in body.get("items") or ()]
        except (LookupError, TypeError, AttributeError) as e:
            raise _unusable(status) from e

    async def _delete(self, remote: Remote, namespace: str, name: str, user: User) -> bool:
        """Delete an object, or without a name all; report whether the server supports it. Raise ApiError."""
        path = f"namespaces/{namespace}/{remote.plural}" + (f"/{name}" if name else "")
        status, body = await self._ask("DELETE", remote, path, user)
        if status >= 400 and status not in UNSUPPORTED:
            if not isinstance(body, dict) or not isinstance(body.get("message"), str):
                raise _unusable(status)
            raise ApiError(status, str(body.get("reason", "")), body["message"])
        return status not in UNSUPPORTED

    async def _ask(self, verb: str, remote: Remote, path: str, user: User) -> tuple[int, Any]:
        """Return status and body of an answer; None for a body that is no JSON. Raise ApiError if there is none."""
        service = remote.registered.service
        try:
            if service is None:
                raise Unreachable("no service")
            session = await self._backends.connections(service).session()
            headers = [("Accept", METADATA if verb == "GET" else "application/json")]
            headers += [("Content-Type", "application/json"), *identity(user.name, groups=[*user.groups])]
            options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
            async with session.request(
                verb,
                f"https://{self._backends.locate(service)}{remote.registered.path}/{path}",
                data=orjson.dumps(options) if verb == "DELETE" else None,
                headers=headers,
                server_hostname=service.host,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=SECONDS),
            ) as answer:
                data = await bounds.read(answer, bounds.DOCUMENT)
                try:
                    return answer.status, await bounds.decoded(data)
                except ValueError:
                    return answer.status, None
        except (aiohttp.ClientError, OSError, TimeoutError, Unreachable, ValueError) as e:
            raise _unusable(503) from e


def _unusable(status: int) -> ApiError:
    """Return what client-go makes of an answer that is no Status (`NewGenericServerResponse`)."""
    if status == 503:
        return ApiError(503, "ServiceUnavailable", "the server is currently unable to handle the request")
    return ApiError(status, "InternalError", "an error on the server has prevented the request from succeeding")
