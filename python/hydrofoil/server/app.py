"""The composition root: which parts there are, and what happens to a request in which order."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import uuid
from collections.abc import Awaitable, Callable
from time import perf_counter
from urllib.parse import unquote

from aiohttp import web

from hydrofoil import engine, errors
from hydrofoil.admission.chain import Chain
from hydrofoil.admission.defaults import plugins
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.apis.gates import Gates
from hydrofoil.endpoints import params as query
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.handlers import gated, subresources, virtual
from hydrofoil.endpoints.handlers.create import create
from hydrofoil.endpoints.handlers.delete import delete, delete_collection
from hydrofoil.endpoints.handlers.get import get
from hydrofoil.endpoints.handlers.list import list_
from hydrofoil.endpoints.handlers.patch import patch
from hydrofoil.endpoints.handlers.update import update
from hydrofoil.endpoints.handlers.watch import watch
from hydrofoil.endpoints.negotiate import PATCHES, PROTOBUF, negotiate, patch_kind
from hydrofoil.endpoints.request_info import RequestInfo, parse
from hydrofoil.endpoints.scope import Scope
from hydrofoil.errors import ApiError
from hydrofoil.registry.backends import Backends
from hydrofoil.registry.conversion import ConversionFailed
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategies.definitions import DefinitionStrategy
from hydrofoil.server.aggregator import Aggregator
from hydrofoil.server.config import Config
from hydrofoil.server.documents import Documents, accepted_or_plain
from hydrofoil.server.health import Health
from hydrofoil.server.inflight import LONG_RUNNING, REFUSAL, REFUSAL_HEADERS, InFlight
from hydrofoil.server.metrics import Metrics, document_labels, resource_labels
from hydrofoil.server.strategies import strategies
from hydrofoil.storage.memory import MemoryBackend
from hydrofoil.watch.hub import Hub

LOG = logging.getLogger("hydrofoil")
Handler = Callable[[Scope], Awaitable[web.StreamResponse]]

COLLECTION: dict[str, tuple[str, Handler]] = {
    "GET": ("list", list_),
    "POST": ("create", create),
    "DELETE": ("deletecollection", delete_collection),
}
ITEM: dict[str, tuple[str, Handler]] = {
    "GET": ("get", get),
    "PUT": ("update", update),
    "PATCH": ("patch", patch),
    "DELETE": ("delete", delete),
}
ITEM_VERBS = frozenset(verb for verb, _ in ITEM.values())
SUBRESOURCE = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def unconverted(resource: Resource, verb: str, why: str) -> ApiError:
    """The answer when stored objects cannot be shown: upstream's cache of them does not come up then."""
    if verb not in ("list", "watch"):
        return ApiError(500, "", why)
    listed = f"failed to list {resource.api_version}, Kind={resource.kind}"
    text = f"storage is (re)initializing: {listed}: {why}"
    return ApiError(429, "TooManyRequests", text, {}, retry_after=1)


def check_timeout(raw_query: str, path: str) -> None:
    """Raises 400 for a `timeout` that is none, of anything but watches (`WithRequestDeadline`)."""
    params = query.parse(raw_query)
    if not query.truth(params, "watch") and "/watch/" not in path:
        query.timeout(params)


class App:
    """A server without its sockets."""

    def __init__(self, config: Config, address: str) -> None:
        self.config = config
        self.gates = Gates(config.feature_gates)
        self.catalog = Catalog(config.runtime_config, self.gates)
        self.backend = MemoryBackend(
            window=config.history_window,
            events=config.history_events,
            memory=config.history_bytes,
            cache=config.cache_bytes,
        )
        self.registry = Registry(self.catalog, self.backend)
        networks, ports = config.service_cluster_ip_range, config.service_node_port_range
        self.registry.strategies |= strategies(self.registry, networks, ports)
        self.admission = Chain(plugins(self.registry))
        self.hub = Hub(self.backend)
        definitions = self.registry.strategies["apiextensions.k8s.io", "customresourcedefinitions"]
        assert isinstance(definitions, DefinitionStrategy)
        self._definitions = definitions
        definitions.swapped = self._swapped
        definitions.services = config.service_endpoints
        self.listeners: list[Callable[[], None]] = []
        """Called when custom resources have come, changed or gone."""
        self.backend.wake = self.hub.wake
        self.health = Health(self.catalog.checks, config.livez_grace_period)
        self.metrics = Metrics()
        self.inflight = InFlight(config.max_requests_inflight, config.max_mutating_requests_inflight)
        self.metrics.watch_store(self.registry)
        self.metrics.watch_requests(self.inflight)
        self.metrics.show_gates(self.gates)
        if config.show_hidden_metrics_for_version:
            self.metrics.show_hidden(self.registry, self.inflight)
        self.backends = Backends(self.registry, config.service_endpoints)
        self.aggregator = Aggregator(self.registry, self.backends)
        self.documents = Documents(self.registry, self.health, self.metrics, self.aggregator, address, self.gates)
        self.cbor = self.gates.enabled("CBORServingAndStorage")
        self._streams = self.gates.enabled("WatchList")
        self._compresses = self.gates.enabled("APIResponseCompression")
        self._unsafe = self.gates.enabled("AllowUnsafeMalformedObjectDeletion")
        self.request_timeout = config.request_timeout
        self.pf_headers = b""
        self._audit = itertools.count()
        self._audit_prefix = str(uuid.UUID(bytes=os.urandom(16), version=4))[:24]
        self.open_requests = 0
        self.idle = asyncio.Event()
        self.idle.set()

    async def close(self) -> None:
        """Ends what goes on beside requests."""
        await self._definitions.close()
        await self.aggregator.close()

    def _swapped(self, collection: tuple[str, str] | None) -> None:
        self.admission.changed()
        if collection is not None:
            self.hub.cut(collection)
        for listener in self.listeners:
            listener()

    def flow_control(self) -> None:
        """Names the flow schema and priority level that every caller has, by uid, once they exist."""
        lines = []
        for header, plural in (("FlowSchema", "flowschemas"), ("PriorityLevel", "prioritylevelconfigurations")):
            resource = self.catalog.find("flowcontrol.apiserver.k8s.io", "v1", plural)
            if resource is not None:
                stored = self.registry.collection(resource).get(resource.native, "", "exempt")
                if stored is not None:
                    lines.append(f"X-Kubernetes-PF-{header}-UID: {stored.uid}\r\n")
        self.pf_headers = "".join(lines).encode()

    def common(self, request: web.BaseRequest) -> bytes:
        """The header lines of every answer."""
        audit = request.headers.get("Audit-ID")
        if audit is None or not audit.isprintable() or len(audit) > 64:
            audit = f"{self._audit_prefix}{next(self._audit) & 0xFFFFFFFFFFFF:012x}"
        return b"Audit-Id: %s\r\nCache-Control: no-cache, private\r\n%s" % (audit.encode(), self.pf_headers)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; every failure becomes a Status."""
        self.open_requests += 1
        self.idle.clear()
        common = b""
        try:
            common = self.common(request)
            try:
                return await self._route(request, common)
            except ApiError as e:
                return self._error(request, e, common + e.headers)
        except errors.FAULTS as e:
            if isinstance(e, ConnectionError) and (request.transport is None or request.transport.is_closing()):
                raise
            LOG.exception("request failed: %s %s", request.method, request.path)
            # Made of nothing that could fail as well.
            body = respond.status_body(errors.internal(e)) + b"\n"
            return respond.Answer(500, body, common + b"Content-Type: application/json\r\n")
        finally:
            self.open_requests -= 1
            if not self.open_requests:
                self.idle.set()

    def _error(self, request: web.BaseRequest, error: ApiError, common: bytes) -> web.StreamResponse:
        """A failure in the form that the client accepts."""
        accepted = accepted_or_plain(request.headers.get("Accept", ""), cbor=self.cbor and not error.foundation)
        if accepted is not None and accepted.protobuf:
            body = self.catalog.protobuf(respond.status_body(error))
            return respond.answer(request, error.code, body, PROTOBUF, common + respond.error_headers(error))
        return respond.error_answer(request, error, accepted, common)

    async def _route(self, request: web.BaseRequest, common: bytes) -> web.StreamResponse:
        path, _, raw_query = request.raw_path.partition("?")
        if "%" in path:
            # As in Go, what is escaped is part of the path like everything else, slashes too.
            path = unquote(path)
        if self.registry.registrations.remote:
            passed = await self.aggregator.answer(request, path, common)
            if passed is not None:
                return passed
        if "timeout=" in raw_query:
            check_timeout(raw_query, path)
        if not self._compresses and not path.startswith("/openapi/"):
            request[respond.PLAIN_ONLY] = True
        info = parse(path)
        if info is None or info.group not in self.catalog.groups:
            return await self._document(request, path, raw_query, common)
        if self.catalog.is_custom(info.group) and self._unserved(request.method, info):
            return self.documents.missing(request, common)
        resource = self._resource(info)
        params = query.parse(raw_query)
        verb, handler = self._handler(request.method, info, params, resource)
        if verb == "watch" and not self._streams and "sendInitialEvents" in params:
            handler = gated.unlisted
        base = len(common)
        if resource.deprecation:
            common += respond.header_lines({}, [resource.deprecation])
        # The scale of a custom resource is a built-in kind.
        custom = resource.custom and info.subresource != "scale"
        kind = ""
        if verb == "patch" and info.subresource != "proxy":
            # What a patch is comes before what is made of it.
            content_type = request.headers.get("Content-Type", "")
            kind = patch_kind(content_type, custom=resource.custom, cbor=self.cbor)
        try:
            accepted = negotiate(
                request.headers.get("Accept", ""),
                watchable=verb in ("list", "watch"),
                custom=custom,
                cbor=self.cbor,
                tabled=verb != "create" or virtual.tabled(resource, info.subresource),
            )
        except ApiError as e:
            # A route that does not produce what is asked for is not taken, so that it does not warn either.
            e.headers = b"" if e.message.startswith("406") else common[base:]
            raise
        scope = Scope(
            request,
            info,
            params,
            resource,
            self.registry,
            self.hub,
            common,
            accepted,
            self.admission,
            self.cbor,
            self.request_timeout,
            kind,
            self._unsafe,
        )
        return await self._execute(scope, verb, handler, common[base:])

    async def _execute(self, scope: Scope, verb: str, handler: Handler, extra: bytes) -> web.StreamResponse:
        """Has a request handled in its turn and counted; `extra` are the header lines of its route."""
        started = perf_counter()
        code = 500
        slots = self.inflight.slots(verb, scope.info.subresource)
        if slots.full:
            self._observe(scope, verb, 429, 0.0)
            request, common = scope.request, scope.common
            return respond.answer(request, 429, REFUSAL, "text/plain; charset=utf-8", common + REFUSAL_HEADERS)
        slots.taken += 1
        try:
            answer = await self._deadline(scope, verb, handler)
            code = answer.status
            return answer
        except ConversionFailed as e:
            code = 500
            if verb in ("list", "watch"):
                error = unconverted(scope.resource, verb, e.message)
                code = error.code
                raise error from None
            raise
        except engine.ConversionError as e:
            error = unconverted(scope.resource, verb, str(e.args[1]))
            code = error.code
            raise error from None
        except ApiError as e:
            code = e.code
            e.headers = extra + respond.header_lines({}, scope.warnings)
            raise
        finally:
            slots.taken -= 1
            self._observe(scope, verb, code, perf_counter() - started)

    async def _document(self, request: web.BaseRequest, path: str, raw_query: str, common: bytes) -> web.StreamResponse:
        started = perf_counter()
        code = 500
        try:
            answer = await self.documents.answer(request, path, raw_query, common)
            code = answer.status
            return answer
        except ApiError as e:
            code = e.code
            e.foundation = True
            raise
        finally:
            self.metrics.observe(document_labels(request.method, code), perf_counter() - started)

    async def _deadline(self, scope: Scope, verb: str, handler: Handler) -> web.StreamResponse:
        if verb == "watch":
            with self.metrics.watching(scope.resource, scope.info):
                return await handler(scope)
        seconds = query.timeout(scope.params) if "timeout" in scope.params else None
        if seconds is None:
            # What has arrived is answered at once; only a body that is still to come makes a request wait.
            if scope.request.content.is_eof() or scope.info.subresource in LONG_RUNNING:
                return await handler(scope)
            seconds = self.request_timeout
        try:
            async with asyncio.timeout(seconds):
                return await handler(scope)
        except TimeoutError:
            raise errors.timed_out() from None

    def _unserved(self, method: str, info: RequestInfo) -> bool:
        """Whether no definition serves a path of its group: then the path is no path at all."""
        resource = self.catalog.find(info.group, info.version, info.resource)
        if resource is None:
            return True
        if resource.namespaced:
            return not info.namespace and (bool(info.name) or method != "GET")
        return bool(info.namespace)

    def _resource(self, info: RequestInfo) -> Resource:
        resource = self.catalog.find(info.group, info.version, info.resource)
        if resource is None or (len(info.rest) and info.subresource != "proxy"):
            raise errors.no_such_resource()
        if info.subresource and info.subresource not in resource.subresources:
            if resource.custom:
                raise errors.not_found(resource.group, resource.plural, info.name)
            raise errors.no_such_resource()
        if resource.namespaced:
            # Across namespaces there are only collections.
            if not info.namespace and info.name:
                raise errors.no_such_resource()
        elif info.namespace:
            raise errors.no_such_resource()
        return resource

    @staticmethod
    def _not_allowed(resource: Resource, verb: str) -> ApiError:
        if resource.custom and verb:
            return errors.method_not_supported(resource.group, resource.plural, verb)
        return errors.method_not_allowed()

    @classmethod
    def _handler(cls, method: str, info: RequestInfo, params: query.Params, resource: Resource) -> tuple[str, Handler]:
        if info.subresource:
            sub = resource.subresources[info.subresource]
            verb = SUBRESOURCE.get(method, "")
            if verb not in sub.verbs:
                raise cls._not_allowed(resource, verb)
            return verb, subresources.handler(resource, sub, verb)
        if info.watch_prefix:
            if method != "GET" or "watch" not in resource.verbs:
                raise errors.method_not_allowed()
            return "watch", watch
        if info.name and ITEM_VERBS.isdisjoint(resource.verbs):
            # Upstream has no route to single objects of reviews.
            raise errors.no_such_resource()
        if resource.namespaced and not info.namespace and virtual.handles(resource):
            # There is no collection of them across namespaces.
            raise errors.no_such_resource()
        verb, handler = (ITEM if info.name else COLLECTION).get(method, ("", get))
        # Discovery hides what a definition that goes no longer allows; admission refuses it.
        if verb not in resource.verbs and not (resource.terminating and verb):
            raise cls._not_allowed(resource, verb)
        if verb == "list" and query.truth(params, "watch"):
            if "watch" not in resource.verbs:
                raise errors.method_not_supported(resource.group, resource.plural, "watch")
            return "watch", watch
        if resource.namespaced and not info.namespace and verb in ("create", "deletecollection"):
            raise errors.method_not_allowed()
        if virtual.handles(resource):
            return verb, virtual.handler(resource)
        return verb, handler

    def _observe(self, scope: Scope, verb: str, code: int, seconds: float) -> None:
        info, resource = scope.info, scope.resource
        applies = verb == "patch" and PATCHES.get(scope.request.headers.get("Content-Type", "")) == "apply"
        labels = resource_labels(verb, applies, scope.params.get("dryRun", ""), resource, info, code)
        self.metrics.observe(labels, seconds)
        if resource.deprecation:
            removed = resource.raw.get("lifecycle", {}).get("removed", "")
            self.metrics.deprecated.labels(
                resource.group, resource.version, resource.plural, info.subresource, removed
            ).set(1)
