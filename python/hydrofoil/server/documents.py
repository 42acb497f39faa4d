"""Everything that is no resource: discovery, OpenAPI, version, health, metrics."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import platform
import sys
from collections.abc import Callable
from email.utils import formatdate
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson

from hydrofoil import __version__
from hydrofoil.answer import TEXT, Answer
from hydrofoil.apis.discovery import Discovery
from hydrofoil.apis.gates import Gates
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.filters.request_info import CACHE_CONTROL
from hydrofoil.endpoints.negotiate import ACCEPTED, JSON, negotiate, negotiate_json
from hydrofoil.endpoints.params import parse
from hydrofoil.endpoints.route import missing
from hydrofoil.engine import openapi_protobuf
from hydrofoil.errors import method_not_allowed, no_such_resource, not_acceptable
from hydrofoil.registry.store import Registry
from hydrofoil.server.published import Published, Remote
from hydrofoil.server.trimmed import Trimmed

OPENAPI = files("hydrofoil.apis") / "data" / "openapi"
PROTOBUF = "application/com.github.proto-openapi.spec.{}.v1.0+protobuf"
METRICS = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
Checked = Callable[[str, str | None, str], tuple[int, str] | None]
"""Status and text of an endpoint of health or of one of its checks, for a query; None when there is none such."""


class Documents:
    """Answers by path."""

    def __init__(
        self,
        registry: Registry,
        checked: Checked,
        exposition: Callable[[], bytes],
        forget: Callable[[], None],
        remote: Remote,
        address: str,
        gates: Gates,
    ) -> None:
        """`exposition` gives the metrics, `forget` begins to count them anew."""
        self._remote = remote
        self._catalog = registry.catalog
        self._discovery = Discovery(
            registry.catalog, registry.registrations, hashes=gates.enabled("StorageVersionHash")
        )
        self._making = asyncio.Lock()
        self._packed = Trimmed(registry.catalog, openapi_document)
        self._published = Published(registry, remote, self._packed.document, openapi_document)
        self._checked = checked
        self._exposition = exposition
        self._forget = forget
        self.address = address
        minor = self._catalog.release.removeprefix("v").split(".")[1]
        self._version = {
            "major": "1",
            "minor": minor,
            "emulationMajor": "1",
            "emulationMinor": minor,
            "minCompatibilityMajor": "1",
            "minCompatibilityMinor": str(int(minor) - 1),
            "gitVersion": f"v1.{minor}.0+hydrofoil.{__version__}",
            "gitCommit": f"hydrofoil-{__version__}",
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": f"python{sys.version_info.major}.{sys.version_info.minor}",
            "compiler": "rustc",
            "platform": f"{platform.system().lower()}/{platform.machine().replace('x86_64', 'amd64')}",
        }

    async def answer(self, context: Context) -> Answer:
        """The answer to a path that names no resource. Raises 404 and 405."""
        path, method = context.info.path, context.request.method
        head = path.split("/")[1] if path.startswith("/") else ""
        if "//" in path:
            return await missing(context)
        if path == "*" and method == "OPTIONS":
            # About the server as a whole, which has nothing to say.
            return Answer(200, b"")
        trimmed = path.rstrip("/") or "/"
        if trimmed == "/version" and method != "GET":
            raise method_not_allowed()
        if head in ("healthz", "livez", "readyz"):
            return await self._healthy(context)
        if trimmed == "/metrics":
            if method == "DELETE":
                self._forget()
                return respond.answer(context, 200, b"metrics reset\n", TEXT)
            return respond.answer(context, 200, self._exposition(), METRICS)
        if trimmed == "/version":
            negotiate_json(context.request.headers.get("Accept", ""))
            body = orjson.dumps(self._version, option=orjson.OPT_INDENT_2)
            return respond.answer(context, 200, body, JSON)
        if trimmed.startswith("/openapi"):
            # Documents of megabytes are made, hashed and packed: one at a time, beside the loop.
            async with self._making:
                return await asyncio.to_thread(self._openapi, context, trimmed)
        if trimmed in ("/", "/index.html"):
            return respond.answer(context, 200, self._root(), JSON)
        if head in ("api", "apis"):
            return await self._discover(context, trimmed)
        return await missing(context)

    async def _healthy(self, context: Context) -> Answer:
        _, endpoint, *name = context.info.path.split("/", 2)
        found = self._checked(endpoint, name[0] if name else None, context.info.query)
        if found is None:
            return await missing(context)
        status, text = found
        return respond.answer(context, status, text.encode(), TEXT, context.common + respond.NOSNIFF)

    def _root(self) -> bytes:
        paths = {"/api", "/apis", "/apis/", "/healthz", "/livez", "/readyz", *self._catalog.paths}
        for endpoint, checks in self._catalog.checks.items():
            paths.update(f"/{endpoint}/{check}" for check in checks)
        for group, versions in self._catalog.groups.items():
            if group:
                paths.add(f"/apis/{group}")
            paths.update(f"/apis/{group}/{v}" if group else f"/api/{v}" for v in versions)
        return orjson.dumps({"paths": sorted(paths)}, option=orjson.OPT_INDENT_2)

    async def _discover(self, context: Context, path: str) -> Answer:
        method, accept = context.request.method, context.request.headers.get("Accept", "")
        body = self._discovery.core(self.address) if path == "/api" else self._discovery.document(path)
        if body is None:
            segments = path.split("/")
            if segments[1] == "apis" and (len(segments) < 4 or segments[2] not in self._catalog.groups):
                return await missing(context)
            raise no_such_resource()
        if method != "GET" and self._routed(path):
            raise method_not_allowed()
        if path in ("/api", "/apis"):
            version = aggregated_version(accept)
            if version:
                return self._aggregate(context, path == "/api", version)
        plain = plain_clauses(accept)
        if accept and not plain:
            raise not_acceptable(ACCEPTED)
        accepted = negotiate(plain, untransformed=True, routed=self._routed(path))
        if accepted.protobuf:
            return respond.answer(context, 200, self._catalog.protobuf(body), accepted.media)
        pretty = parse(context.info.query).get("pretty") in ("1", "true")
        return respond.answer(context, 200, respond.encode(body, accepted, pretty=pretty), accepted.media)

    def _routed(self, path: str) -> bool:
        """Whether a document has a route of its own, which is for GET and tells what it produces.

        The others are handlers of whatever comes (`apiGroupHandler` of kube-aggregator, `versionDiscoveryHandler` of
        apiextensions).
        """
        _, root, *names = path.split("/")
        if root == "api":
            return True
        if len(names) == 1:
            return names[0] == "apiregistration.k8s.io"
        return len(names) == 2 and not self._catalog.is_custom(names[0])

    def _aggregate(self, context: Context, core: bool, version: str) -> Answer:
        body, etag = self._discovery.aggregated(core, version)
        common = context.common.replace(CACHE_CONTROL, b"")
        common += f"ETag: {etag}\r\nVary: Accept\r\nCache-Control: public\r\n".encode()
        if etag in context.request.headers.get("If-None-Match", ""):
            return Answer(304, common)
        media = f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
        return respond.answer(context, 200, body, media, common)

    def _openapi(self, context: Context, path: str) -> Answer:
        common = context.common
        if path == "/openapi/v3":
            hashes = self._packed.hashes(openapi_hashes()) | self._published.index()
            index = openapi_index(hashes, self._remote.openapi_index())
            return respond.answer(context, 200, index, TEXT)
        name = path.removeprefix("/openapi/").removeprefix("v3/")
        protobuf = PROTOBUF.format("v2" if name == "v2" else "v3")
        media = openapi_media(context.request.headers.get("Accept", ""), protobuf)
        found = self._published.document(name) or self._packed.document(name)
        if found is None:
            return Answer(404, context.common)
        if not media:
            return Answer(406, context.common)
        body, etag = found
        given = parse(context.info.query).get("hash")
        if given is not None and given != etag and name != "v2":
            common += f"Location: /openapi/v3/{name}?hash={etag}\r\n".encode()
            return Answer(301, common)
        common += f'ETag: "{etag}"\r\nVary: Accept\r\n'.encode()
        if given and name != "v2":
            common = common.replace(CACHE_CONTROL, b"")
            expires = formatdate(context.parts.clock.seconds() + 365 * 86400, usegmt=True)
            common += f"Cache-Control: public, immutable\r\nExpires: {expires}\r\n".encode()
        if etag in context.request.headers.get("If-None-Match", ""):
            return Answer(304, common)
        return respond.answer(context, 200, packed(body) if media == protobuf else body, media, common)


@lru_cache(maxsize=256)
def aggregated_version(accept: str) -> str:
    """The version of aggregated discovery that the first fitting clause asks for; empty for the old documents."""
    for clause in accept.split(","):
        media, *rest = (p.strip() for p in clause.split(";"))
        params = dict(p.split("=", 1) for p in rest if "=" in p)
        if media != "application/json":
            continue
        if params.get("as") == "APIGroupDiscoveryList" and params.get("g") == "apidiscovery.k8s.io":
            if params.get("v") == "v2":
                return "v2"
            continue
        return ""
    return ""


def plain_clauses(accept: str) -> str:
    """An Accept header without the clauses that only aggregated discovery could meet."""
    return ",".join(c for c in accept.split(",") if "as=APIGroupDiscoveryList" not in c)


def openapi_media(accept: str, protobuf: str) -> str:
    """The media type of an OpenAPI document for an Accept header, empty when none fits.

    Clients name the protobuf form by the old spelling with `@` or the new one; both get the new one.
    """
    for clause in (accept or "*/*").split(","):
        media = clause.partition(";")[0].strip()
        if media in ("*/*", "application/*", "application/json"):
            return "application/json"
        if media.replace("@", ".") == protobuf:
            return protobuf
    return ""


@lru_cache(maxsize=1)
def openapi_files() -> dict[str, str]:
    """The packed documents: path below `/openapi/v3` (or `v2`) -> file."""
    found: dict[str, str] = orjson.loads((OPENAPI / "index.json").read_bytes())
    return found


@lru_cache(maxsize=128)
def openapi_document(name: str) -> tuple[bytes, str] | None:
    """A document and its hash; None when there is none."""
    file = openapi_files().get(name)
    if file is None:
        return None
    body = gzip.decompress((OPENAPI / file).read_bytes())
    return body, hashlib.sha512(body).hexdigest().upper()


@lru_cache(maxsize=64)
def packed(document: bytes) -> bytes:
    """A document as protobuf."""
    return openapi_protobuf(document)


@lru_cache(maxsize=1)
def openapi_hashes() -> dict[str, str]:
    """The hash of each packed document."""
    found = ((name, openapi_document(name)) for name in openapi_files() if name != "v2")
    return {name: document[1] for name, document in found if document is not None}


def openapi_index(hashes: dict[str, str], remote: dict[str, Any]) -> bytes:
    """`/openapi/v3`: the documents, and the URL of each, which names its content; `remote`: the entries of services."""
    paths = {name: {"serverRelativeURL": f"/openapi/v3/{name}?hash={digest}"} for name, digest in hashes.items()}
    return orjson.dumps({"paths": paths | remote})
