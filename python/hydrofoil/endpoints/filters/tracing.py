"""Spans of requests (apiserver `pkg/endpoints/filters/traces.go`)."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from opentelemetry.trace import Span

from hydrofoil.answer import Answer, Outcome
from hydrofoil.endpoints.context import Context, Filter, Handler
from hydrofoil.tracing.service import Tracing, end


def tracing(service: Tracing) -> Filter:
    """Trace each request that is sampled (`WithTracing`)."""

    async def traced(context: Context, inner: Handler) -> Answer:
        request = context.request
        with service.span(request.method, context.info, context.user, request.headers) as span:
            if not span.is_recording():
                return await inner(context)
            describe(span, context)
            context.at_end(partial(end_span, span, context))
            return await inner(context)

    return traced


def describe(span: Span, context: Context) -> None:
    """Set the attributes of a request (OpenTelemetry's conventions for HTTP servers)."""
    request = context.request
    host = request.headers.get("Host", "")
    major, minor = request.version
    attributes: dict[str, str | int] = {
        "http.request.method": request.method,
        "url.scheme": "https" if request.secure else "http",
        "url.path": urlsplit(context.target).path,
        "server.address": host.rpartition(":")[0] or host,
        "network.peer.address": context.remote,
        "network.protocol.version": f"{major}.{minor}",
        "user_agent.original": request.headers.get("User-Agent", ""),
        "http.target": context.target,
        "audit-id": context.audit_id,
    }
    span.set_attributes({name: value for name, value in attributes.items() if value})


def end_span(span: Span, context: Context, outcome: Outcome) -> None:
    """End the span of a request."""
    if context.sent:
        span.set_attribute("http.request.body.size", context.sent)
    end(span, outcome.status, context.answered)
