"""What services serve under this server's roof: which requests are theirs, and what they say of themselves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from functools import partial
from typing import Any

import aiohttp

from hydrofoil.apis.registration import Registration, Service
from hydrofoil.endpoints.context import Handler
from hydrofoil.registry import bounded
from hydrofoil.registry.backends import Backends, Unreachable, identity
from hydrofoil.registry.pool import lasting
from hydrofoil.registry.store import Registry
from hydrofoil.request import RequestInfo
from hydrofoil.server.proxy import proxy

LOG = logging.getLogger("hydrofoil")
REFRESH_SECONDS = 60.0
"""How often a service is asked anew what it serves."""
RETRY_SECONDS = 0.5
"""After a failure it is asked after this time, doubled up to the former."""
FETCH_SECONDS = 5.0
DISCOVERY = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={v};as=APIGroupDiscoveryList" for v in ("v2", "v2beta1")
)
Object = dict[str, Any]


class Aggregator:
    """The API services that services serve."""

    def __init__(self, registry: Registry, backends: Backends) -> None:
        self._registrations = registry.registrations
        self._backends = backends
        self._clock = registry.clock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self.openapi: dict[str, dict[str, Any]] = {}
        """The OpenAPI v3 documents of each: path below `/openapi/v3` -> entry of the index."""
        self.swagger: dict[str, Object] = {}
        """The OpenAPI v2 document of each."""
        self.changes = 0
        """Grows when one of these changes."""
        self._registrations.listeners.append(self._registered)

    async def close(self) -> None:
        """Asks no more."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._backends.keep(())

    def passed_on(self, info: RequestInfo) -> Handler | None:
        """What has a service answer a request; None when the path is none of theirs."""
        found = self._target(info.path)
        if found is None or found.service is None:
            return None
        return partial(proxy, registered=found, service=found.service, backends=self._backends)

    def _target(self, path: str) -> Registration | None:
        segments = path.split("/", 4)
        match segments:
            case ["", "apis", group, version, *_]:
                return self._registrations.remote.get((group, version))
            case ["", "api", *_]:
                return self._registrations.remote.get(("", "v1"))
            case ["", "openapi", "v3", *_]:
                name = path.removeprefix("/openapi/v3/")
                return next((r for r in self._registrations.remote.values() if name in self.openapi_of(r)), None)
        return None

    def openapi_of(self, registered: Registration) -> dict[str, Any]:
        """The documents that a service has of its group version, and of nobody else's."""
        own = registered.path.lstrip("/")
        return {name: entry for name, entry in self.openapi.get(registered.name, {}).items() if name == own}

    def openapi_index(self) -> dict[str, Any]:
        """The documents of all services."""
        return {name: entry for r in self._registrations.remote.values() for name, entry in self.openapi_of(r).items()}

    def swaggers(self) -> list[tuple[str, Object]]:
        """The OpenAPI v2 documents of all services with the beginning of the paths that are theirs."""
        order = sorted(self._registrations.remote.values(), key=lambda r: (-r.group_priority, r.name))
        return [(f"{r.path}/", self.swagger[r.name]) for r in order if r.name in self.swagger]

    def _registered(self, name: str, now: Registration | None) -> None:
        if now is None or now.service is None:
            self.openapi.pop(name, None)
            self.swagger.pop(name, None)
            self.changes += 1
            if (task := self._tasks.pop(name, None)) is not None:
                task.cancel()
                del self._changed[name]
        elif name in self._tasks:
            self._changed[name].set()
        else:
            self._changed[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(
                lasting(partial(self._follow, name, self._changed[name]), f"discovery of {name}", self._clock)
            )

    async def _follow(self, name: str, changed: asyncio.Event) -> None:
        """Keeps what is known of a service fresh for as long as it is registered."""
        delay = RETRY_SECONDS
        while (found := self._registrations.get(name)) is not None and found.service is not None:
            changed.clear()
            await self._backends.keep(r.service for r in self._registrations.remote.values() if r.service is not None)
            fine = await self._fetch(found, found.service)
            wait = REFRESH_SECONDS if fine else delay
            delay = RETRY_SECONDS if fine else min(delay * 2, REFRESH_SECONDS)
            await self._clock.wait(changed, wait)

    async def _fetch(self, registered: Registration, service: Service) -> bool:
        """Asks a service for its documents; what is known stays, marked as stale, when it does not answer."""
        name, version = registered.name, registered.version
        known = self._registrations.discovered.get(name, {"version": version})
        try:
            entry = await self._discovery(registered, service)
        except (Unreachable, aiohttp.ClientError, OSError, ValueError, TypeError, LookupError, AttributeError) as e:
            LOG.info("discovery of %s: %s", name, e)
            self._registrations.discover(name, {**known, "freshness": "Stale"})
            return False
        self._registrations.discover(name, {**entry, "version": version, "freshness": "Current"})
        try:
            await self._documents(name, service)
        except (Unreachable, aiohttp.ClientError, OSError, ValueError, TypeError, AttributeError) as e:
            LOG.info("OpenAPI documents of %s: %s", name, e)
        return True

    async def _get(self, service: Service, path: str, accept: str, user: str) -> tuple[int, str, bytes]:
        url = f"https://{self._backends.locate(service)}{path}"
        headers = [("Accept", accept), *identity(user, groups=["system:masters"])]
        session = await self._backends.session(service)
        async with session.get(
            url,
            headers=headers,
            server_hostname=service.host,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=FETCH_SECONDS),
        ) as answer:
            body = await bounded.read(answer, bounded.DOCUMENT)
            return answer.status, answer.headers.get("Content-Type", ""), body

    async def _discovery(self, registered: Registration, service: Service) -> Object:
        """What a service says of a group version (`fetchFreshDiscoveryForService`)."""
        user = "system:kube-aggregator"
        status, media, body = await self._get(service, "/apis", DISCOVERY, user)
        if status == 503:
            raise Unreachable("service unavailable")
        if status == 200 and "as=APIGroupDiscoveryList" in media:
            for group in (await bounded.decoded(body)).get("items", ()):
                for version in group.get("versions", ()):
                    if (group["metadata"].get("name", ""), version["version"]) == (
                        registered.group,
                        registered.version,
                    ):
                        return with_kinds(version)
            return {}
        status, _, body = await self._get(service, registered.path, "application/json", user)
        if status != 200:
            raise Unreachable(f"failed to download legacy discovery for {registered.path}: {status}")
        resources = (await bounded.decoded(body)).get("resources") or ()
        return {"version": registered.version, "resources": aggregated(resources)}

    async def _documents(self, name: str, service: Service) -> None:
        user = "system:aggregator"
        status, _, body = await self._get(service, "/openapi/v3", "application/json", user)
        paths: Object = (await bounded.decoded(body)).get("paths", {}) if status == 200 else {}
        status, _, body = await self._get(service, "/openapi/v2", "application/json", user)
        swagger: Object = await bounded.decoded(body) if status == 200 else {}
        if (
            not isinstance(paths, dict)
            or not isinstance(swagger, dict)
            or not isinstance(swagger.get("paths", {}), dict)
        ):
            raise TypeError("a document is no object")
        if (self.openapi.get(name, {}), self.swagger.get(name, {})) != (paths, swagger):
            self.openapi[name], self.swagger[name] = paths, swagger
            self.changes += 1


def with_kinds(version: Object) -> Object:
    """A version whose resources and subresources all have a kind, be it empty."""
    resources = []
    for r in version.get("resources") or ():
        made = {**r, "responseKind": r.get("responseKind") or empty_kind()}
        if subresources := r.get("subresources"):
            made["subresources"] = [{**s, "responseKind": s.get("responseKind") or empty_kind()} for s in subresources]
        resources.append(made)
    return {**version, "resources": resources} if resources else version


def empty_kind() -> Object:
    """A kind that is not known."""
    return {"group": "", "version": "", "kind": ""}


def aggregated(resources: Iterable[Object]) -> list[Object]:
    """The resources of an APIResourceList as aggregated discovery has them (`ConvertGroupVersionIntoToDiscovery`)."""
    out: dict[str, Object] = {}
    for r in resources:
        parent, _, sub = r["name"].partition("/")
        kind = {"group": r.get("group", ""), "version": r.get("version", ""), "kind": r.get("kind", "")}
        scope = "Namespaced" if r.get("namespaced") else "Cluster"
        if sub:
            entry = out.setdefault(parent, {"resource": parent, "scope": scope, "singularResource": "", "verbs": []})
            found = {"subresource": sub, "responseKind": kind, "verbs": r.get("verbs") or []}
            entry.setdefault("subresources", []).append(found)
            continue
        made: Object = {"resource": parent, "responseKind": kind, "scope": scope}
        made |= {"singularResource": r.get("singularName", ""), "verbs": r.get("verbs") or []}
        made |= {key: r[key] for key in ("shortNames", "categories") if r.get(key)}
        out[parent] = made
    return list(out.values())
