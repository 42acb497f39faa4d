"""Spans of requests, sent by OTLP over gRPC (component-base `tracing`). Load it only where tracing is configured."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import attach, detach
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from hydrofoil.outbound.propagation import propagation
from hydrofoil.request import RequestInfo, User
from hydrofoil.tracing.configuration import WHOLE, Settings

TRUSTED = frozenset(("system:masters", "system:monitoring"))
"""The groups whose traces continue here; spans of others only link to their client's."""
FIELDS = ("traceparent", "tracestate", "baggage")
"""The headers of a trace."""
SECONDS = 2
"""The time that the last spans have at the end of a server."""


class Tracing:
    """The tracer of one server."""

    def __init__(self, settings: Settings, instance: str) -> None:
        """`instance` is the name of this server."""
        self._settings = settings
        self._instance = instance
        self._provider: TracerProvider | None = None
        self._tracer: trace.Tracer = trace.NoOpTracer()
        self._propagator = CompositePropagator([TraceContextTextMapPropagator(), W3CBaggagePropagator()])

    async def start(self) -> None:
        """Prepare the connection to the collector, which need not be there."""
        await asyncio.to_thread(self._start)

    def _start(self) -> None:
        settings = self._settings
        sampler = TraceIdRatioBased(settings.rate / WHOLE) if settings.rate else ALWAYS_OFF
        provider = self._provider = TracerProvider(
            sampler=ParentBased(sampler),
            resource=Resource({"service.name": "apiserver", "service.instance.id": self._instance}),
            shutdown_on_exit=False,
        )
        # A collector that is away is reported by each batch.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        exporter = OTLPSpanExporter(endpoint=settings.endpoint, insecure=True, timeout=SECONDS)
        provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = provider.get_tracer("hydrofoil")

    @contextmanager
    def span(self, method: str, info: RequestInfo, user: User, headers: Mapping[str, str]) -> Iterator[Span]:
        """Begin the span of a request and make it the parent of calls to other servers; the caller ends the span."""
        carried = {field: value for field in FIELDS if (value := headers.get(field))}
        context = self._propagator.extract(carried)
        remote = trace.get_current_span(context).get_span_context()
        links = []
        if remote.is_valid and not TRUSTED.intersection(user.groups):
            links, context = [Link(remote)], trace.set_span_in_context(trace.INVALID_SPAN, context)
        found = self._tracer.start_span(name(method, info), context, SpanKind.SERVER, links=links)
        token = attach(trace.set_span_in_context(found, context))
        carry = propagation.set(self._inject)
        try:
            yield found
        finally:
            propagation.reset(carry)
            detach(token)

    def _inject(self, headers: dict[str, str]) -> None:
        self._propagator.inject(headers)

    async def close(self) -> None:
        """Send the last spans."""
        if self._provider is not None:
            await asyncio.to_thread(self._provider.shutdown)


def end(span: Span, status: int, size: int) -> None:
    """End a span with the status and the size in bytes of its answer."""
    span.set_attribute("http.response.status_code", status)
    if size:
        span.set_attribute("http.response.body.size", size)
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))
    span.end()


def name(method: str, info: RequestInfo) -> str:
    """Return the name of a span, which has no names of objects (`getSpanNameFromRequestInfo`)."""
    if not info.resourceful:
        return method
    parts = ["", "apis" if info.group else "api", *([info.group] if info.group else ()), info.version]
    if info.namespace:
        parts += ["namespaces", "{:namespace}"]
    parts.append(info.resource)
    if info.name:
        parts.append("{:name}")
    if info.subresource:
        parts.append(info.subresource)
    return f"{method} {'/'.join(parts)}"
