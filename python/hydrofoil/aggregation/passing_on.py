"""Requests passed on to services (kube-aggregator `pkg/apiserver/handler_proxy.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from hydrofoil.aggregation.backends import Backends
from hydrofoil.aggregation.documents import Documents
from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.answer import Answer
from hydrofoil.apis.registration import Registration, Service
from hydrofoil.outbound.proxy import pass_on, refusal
from hydrofoil.outbound.trust import Unreachable
from hydrofoil.request import Incoming, RequestInfo

UNAVAILABLE = "service unavailable"


class PassingOn:
    """Find the service of a request, and pass the request on."""

    def __init__(self, registrations: Registrations, documents: Documents, backends: Backends) -> None:
        self._registrations = registrations
        self._documents = documents
        self._backends = backends

    def handler(self, info: RequestInfo) -> Callable[[Incoming], Awaitable[Answer]] | None:
        """Return the handler that passes a request on; None if no service has its path."""
        if not self._registrations.remote:
            return None
        found = self._target(info.path)
        if found is None or found.service is None:
            return None
        return partial(self._pass_on, found, found.service)

    def _target(self, path: str) -> Registration | None:
        segments = path.split("/", 4)
        remote = self._registrations.remote
        match segments:
            case ["", "apis", group, version, *_]:
                return remote.get((group, version))
            case ["", "api", *_]:
                return remote.get(("", "v1"))
            case ["", "openapi", "v3", *_]:
                name = path.removeprefix("/openapi/v3/")
                return next((r for r in remote.values() if name in self._documents.openapi_of(r)), None)
        return None

    async def _pass_on(self, registered: Registration, service: Service, request: Incoming) -> Answer:
        """Pass a request on to a service; answer 503 while it is unavailable. Raise ApiError 504."""
        if not registered.available:
            return refusal(request, 503, UNAVAILABLE)
        try:
            where = self._backends.locate(service)
        except Unreachable:
            return refusal(request, 503, UNAVAILABLE)
        return await pass_on(request, where, service.host, self._backends.connections(service))
