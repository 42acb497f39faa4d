"""Non-resource paths: discovery, OpenAPI, version, and those of other parts."""

from __future__ import annotations

import asyncio
import platform
import sys
import zlib
from collections.abc import Mapping

import orjson

from hydrofoil import __version__
from hydrofoil.answer import Answer
from hydrofoil.apis.releases.data import minors
from hydrofoil.discovery.aggregated import (
    API_GROUP,
    API_VERSION,
    KIND,
    LIST_TYPE,
    PARAMETERS,
    Aggregated,
    plain_clauses,
)
from hydrofoil.discovery.documents import Documents
from hydrofoil.discovery.registered import Registered
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context, Handler
from hydrofoil.endpoints.filters.request_info import CACHE_CONTROL
from hydrofoil.endpoints.negotiate import ACCEPTED, JSON, Accepted, negotiate, negotiate_aggregated, negotiate_json
from hydrofoil.endpoints.params import parse
from hydrofoil.endpoints.route import missing
from hydrofoil.errors import method_not_allowed, no_such_resource, not_acceptable
from hydrofoil.headers import ACCEPT
from hydrofoil.openapi.definitions import Remote
from hydrofoil.openapi.documents import Documents as OpenApi
from hydrofoil.registry.store import Registry


def version_document(release: str, emulated: int) -> dict[str, str]:
    """Return the document of `/version`; `emulated` is the minor version whose behaviour is shown."""
    minor = release.removeprefix("v").split(".")[1]
    return {
        "major": "1",
        "minor": minor,
        "emulationMajor": "1",
        "emulationMinor": str(emulated),
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": str(max(emulated - 1, minors()[0])),
        "gitVersion": f"{release}+hydrofoil.{__version__}",
        "gitCommit": f"hydrofoil-{__version__}",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{sys.version_info.major}.{sys.version_info.minor}",
        "compiler": "rustc",
        "platform": f"{platform.system().lower()}/{platform.machine().replace('x86_64', 'amd64')}",
    }


class NonResource:
    """Answers of non-resource paths: documents here, the rest by the parts of the server that have them."""

    def __init__(
        self,
        registry: Registry,
        registrations: Registered,
        remote: Remote,
        authority: str,
        version: Mapping[str, str],
        paths: Mapping[str, Handler],
        *,
        hashes: bool,
    ) -> None:
        """Take the document of `/version`, and handlers by path; one that ends in a slash has a whole first segment.

        `hashes`: discovery has those of stored versions.
        """
        self._catalog = registry.catalog
        self._discovery = Documents(registry.catalog, registrations, hashes=hashes)
        self.aggregated = Aggregated(registry.catalog, registrations)
        self._making = asyncio.Lock()
        """Held while a document is made: one made twice at a time would take twice its megabytes."""
        self._openapi = OpenApi(registry, remote, registry.clock)
        self._authority = authority
        self._version = version
        self._paths = paths

    async def answer(self, context: Context) -> Answer:
        """Return the answer for a non-resource path. Raise ApiError 404 and 405."""
        path, method = context.info.path, context.request.method
        head = path.split("/")[1] if path.startswith("/") else ""
        if "//" in path:
            return await missing(context)
        if path == "*" and method == "OPTIONS":
            # `OPTIONS *` asks for capabilities of the whole server, which has none.
            return Answer(200, b"")
        trimmed = path.rstrip("/") or "/"
        if trimmed == "/version" and method != "GET":
            raise method_not_allowed()
        if (handler := self._paths.get(path) or self._paths.get(f"/{head}/")) is not None:
            return await handler(context)
        if trimmed == "/version":
            negotiate_json(context.request.headers.get(ACCEPT, ""))
            body = orjson.dumps(self._version, option=orjson.OPT_INDENT_2)
            return respond.answer(context, 200, body, JSON)
        if path in ("/openapi", "/openapi/", "/openapi/v2/"):
            return await missing(context)
        if path == "/openapi/v3/":
            # The handler of documents of groups finds none without a name.
            return Answer(404, context.common)
        if trimmed.startswith("/openapi"):
            # Documents of megabytes are made, hashed and compressed: one at a time, off the loop.
            async with self._making:
                return await asyncio.to_thread(lambda: answer_document(context, self._openapi.answer(context, trimmed)))
        if trimmed in ("/", "/index.html"):
            return respond.answer(context, 200, self._root(), JSON)
        if head in ("api", "apis"):
            return await self._discover(context, trimmed)
        return await missing(context)

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
        method, accept = context.request.method, context.request.headers.get(ACCEPT, "")
        body = self._discovery.core(self._authority) if path == "/api" else self._discovery.document(path)
        if body is None:
            segments = path.split("/")
            if segments[1] == "apis" and (len(segments) < 4 or segments[2] not in self._catalog.groups):
                return await missing(context)
            raise no_such_resource()
        if method != "GET" and self._routed(path):
            raise method_not_allowed()
        if path in ("/api", "/apis"):
            media, pretty = negotiate_aggregated(accept, API_GROUP, API_VERSION, KIND)
            if media:
                return self._aggregate(context, Accepted(media, pretty=pretty), core=path == "/api")
        plain = plain_clauses(accept)
        if accept and not plain:
            raise not_acceptable(ACCEPTED)
        accepted = negotiate(plain, untransformed=True, routed=self._routed(path))
        if context.audit is not None:
            context.audit.responded(body)
        if accepted.protobuf:
            return respond.answer(context, 200, self._catalog.protobuf(body), accepted.media)
        return respond.answer(context, 200, self._encoded(context, body, accepted), accepted.media)

    def _routed(self, path: str) -> bool:
        """Report whether a document has a route of its own, for GET and for certain media types.

        The others are handlers of any request (`apiGroupHandler` of kube-aggregator, `versionDiscoveryHandler` of
        apiextensions).
        """
        _, root, *names = path.split("/")
        if root == "api":
            return True
        if len(names) == 1:
            return names[0] == "apiregistration.k8s.io"
        return len(names) == 2 and not self._catalog.is_custom(names[0])

    @staticmethod
    def _encoded(context: Context, body: bytes, accepted: Accepted) -> bytes:
        """Return a document in a text form, indented for those who ask for that."""
        pretty = respond.read_by_people(context, parse(context.info.query).get("pretty"), accepted)
        return respond.encode(body, accepted, pretty=pretty)

    def _aggregate(self, context: Context, accepted: Accepted, *, core: bool) -> Answer:
        body, etag = self.aggregated.document(core=core)
        lines = f"ETag: {etag}\r\nVary: Accept\r\nCache-Control: public\r\n"
        if etag == context.request.headers.get("If-None-Match"):
            return complete_answer(context, Answer(304, lines.encode()))
        if context.audit is not None:
            context.audit.responded(body)
        if accepted.protobuf:
            kind = self._catalog.kind(API_GROUP, API_VERSION, KIND, LIST_TYPE)
            body = kind.decode(body, "json")[0].protobuf()
        else:
            body = self._encoded(context, body, accepted)
        media = f"{accepted.media};{PARAMETERS}"
        return complete_answer(context, Answer(200, f"{lines}Content-Type: {media}\r\n".encode(), body))


def answer_document(context: Context, answer: Answer) -> Answer:
    """Add the common header lines to an answer with a document, of which upstream packs those of version 2 alone."""
    answer.head = common_lines(context, answer) + answer.head
    if answer.status == 200 and b"Vary: Accept-Encoding" in answer.head and respond.wants_gzip(context):
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        answer.body = packer.compress(answer.body) + packer.flush()
        answer.head += b"Content-Encoding: gzip\r\n"
    return answer


def common_lines(context: Context, answer: Answer) -> bytes:
    """Return the header lines of every answer, of which one with its own rules of caching has none for that."""
    return context.common.replace(CACHE_CONTROL, b"") if b"Cache-Control:" in answer.head else context.common


def complete_answer(context: Context, answer: Answer) -> Answer:
    """Add the common header lines to an answer, and compress a large body."""
    answer.head = common_lines(context, answer) + answer.head
    return respond.compress(context, answer)
