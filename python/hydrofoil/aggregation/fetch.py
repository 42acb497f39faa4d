"""Fetch documents of the services behind API services (kube-aggregator `pkg/apiserver/handler_discovery.go`)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import aiohttp

from hydrofoil.aggregation.backends import Backends
from hydrofoil.apis.registration import Registration, Service
from hydrofoil.outbound import bounds
from hydrofoil.outbound.proxy import identity
from hydrofoil.outbound.trust import Unreachable

SECONDS = 5.0
"""The timeout of a request."""
DISCOVERY = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={v};as=APIGroupDiscoveryList" for v in ("v2", "v2beta1")
)
Object = dict[str, Any]


def with_kinds(version: Object) -> Object:
    """Return a version in which each resource and subresource has a kind, possibly an empty one."""
    resources = []
    for r in version.get("resources") or ():
        made = {**r, "responseKind": r.get("responseKind") or empty_kind()}
        if subresources := r.get("subresources"):
            made["subresources"] = [{**s, "responseKind": s.get("responseKind") or empty_kind()} for s in subresources]
        resources.append(made)
    return {**version, "resources": resources} if resources else version


def empty_kind() -> Object:
    """Return the kind of an unknown type."""
    return {"group": "", "version": "", "kind": ""}


def to_aggregated(resources: Iterable[Object]) -> list[Object]:
    """Convert the resources of an APIResourceList (`ConvertGroupVersionIntoToDiscovery`)."""
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


@contextlib.contextmanager
def _asking() -> Iterator[None]:
    """Raise Unreachable if a service does not respond, or sends an invalid document."""
    try:
        yield
    except (aiohttp.ClientError, OSError, ValueError, TypeError, LookupError, AttributeError) as e:
        raise Unreachable(str(e)) from e


async def discovery(backends: Backends, registered: Registration, service: Service) -> Object:
    """Return the resources of a group version that a service reports (`fetchFreshDiscoveryForService`).

    Raise Unreachable.
    """
    with _asking():
        user = "system:kube-aggregator"
        status, media, body = await _get(backends, service, "/apis", DISCOVERY, user)
        if status == 503:
            raise Unreachable("service unavailable")
        if status == 200 and "as=APIGroupDiscoveryList" in media:
            wanted = registered.group, registered.version
            for group in (await bounds.decode_json(body)).get("items", ()):
                for version in group.get("versions", ()):
                    if (group["metadata"].get("name", ""), version["version"]) == wanted:
                        return with_kinds(version)
            return {}
        status, _, body = await _get(backends, service, registered.path, "application/json", user)
        if status != 200:
            raise Unreachable(f"failed to download legacy discovery for {registered.path}: {status}")
        resources = (await bounds.decode_json(body)).get("resources") or ()
        return {"version": registered.version, "resources": to_aggregated(resources)}


async def openapi(backends: Backends, service: Service) -> tuple[Object, Object]:
    """Return the index of a service's OpenAPI v3 documents and its v2 document. Raise Unreachable."""
    with _asking():
        user = "system:aggregator"
        status, _, body = await _get(backends, service, "/openapi/v3", "application/json", user)
        paths = (await bounds.decode_json(body)).get("paths", {}) if status == 200 else {}
        status, _, body = await _get(backends, service, "/openapi/v2", "application/json", user)
        swagger = await bounds.decode_json(body) if status == 200 else {}
        if (
            not isinstance(paths, dict)
            or not isinstance(swagger, dict)
            or not isinstance(swagger.get("paths", {}), dict)
        ):
            raise TypeError("a document is no object")
        return paths, swagger


async def schemas(backends: Backends, registered: Registration, service: Service, user: str) -> bytes | None:
    """Return the OpenAPI v3 document of a group version as JSON, if its service has one. Raise Unreachable."""
    with _asking():
        path = f"/openapi/v3{registered.path}"
        status, _, body = await _get(backends, service, path, "application/json", user)
        return body if status == 200 else None


async def _get(backends: Backends, service: Service, path: str, accept: str, user: str) -> tuple[int, str, bytes]:
    """Return status, media type and body."""
    url = f"https://{backends.locate(service)}{path}"
    headers = [("Accept", accept), *identity(user, groups=["system:masters"])]
    session = await backends.connections(service).session()
    async with session.get(
        url,
        headers=headers,
        server_hostname=service.host,
        allow_redirects=False,
        timeout=aiohttp.ClientTimeout(total=SECONDS),
    ) as answer:
        body = await bounds.read(answer, bounds.DOCUMENT)
        return answer.status, answer.headers.get("Content-Type", ""), body
