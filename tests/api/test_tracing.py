"""Spans as a collector gets them (`--tracing-config-file`)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as messages
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc

from hydrofoil import Server

# Its first import waits for threads of its own, which the guard of blocking calls sees.
from hydrofoil.tracing import service as _service  # noqa: F401

add: Any = trace_service_pb2_grpc.add_TraceServiceServicer_to_server
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """A collector that keeps its spans."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.service = ""
        self.port = 0
        self.stop: Callable[[], object] = bool
        self._changed = threading.Condition()

    def Export(self, request: Any, context: Any) -> Any:
        """Take a batch."""
        with self._changed:
            for each in request.resource_spans:
                names = {a.key: a.value.string_value for a in each.resource.attributes}
                self.service = names["service.name"]
                self.spans += [span for scope in each.scope_spans for span in scope.spans]
            self._changed.notify_all()
        return messages.ExportTraceServiceResponse()

    def named(self, name: str) -> Any:
        """Return the span of a name, once it is there."""
        with self._changed:
            assert self._changed.wait_for(lambda: any(span.name == name for span in self.spans), 30)
            return next(span for span in self.spans if span.name == name)


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Yield a collector."""
    kept = Collector()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    add(kept, server)
    kept.port = server.add_insecure_port("127.0.0.1:0")
    kept.stop = lambda: server.stop(None).wait()
    server.start()
    yield kept
    kept.stop()


@pytest.fixture
def files(collector: Collector, tmp_path: Path) -> dict[int, str]:
    """Return the paths of configurations by their rate."""
    found = {}
    for rate in (0, 1_000_000):
        path = tmp_path / f"{rate}.yaml"
        path.write_text(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
            f"endpoint: 127.0.0.1:{collector.port}\nsamplingRatePerMillion: {rate}\n"
        )
        found[rate] = str(path)
    return found


async def test_each_sampled_request_is_a_span(collector: Collector, files: dict[int, str]) -> None:
    async with Server(tracing_config_file=files[1_000_000]) as server, server.session() as session:
        path = "/api/v1/namespaces/default/configmaps/none?pretty=false"
        assert (await session.get(path, headers={"User-Agent": "test/1"})).status == 404
        assert (await session.get("/readyz")).status == 200
    span = collector.named("GET /api/v1/namespaces/{:namespace}/configmaps/{:name}")
    found = {a.key: a.value.string_value or a.value.int_value for a in span.attributes}
    assert collector.service == "apiserver"
    assert found["http.target"] == path
    assert found["url.path"] == path.partition("?")[0]
    assert (found["http.request.method"], found["user_agent.original"]) == ("GET", "test/1")
    assert found["http.response.status_code"] == 404
    assert len(found["audit-id"]) == 36
    assert span.parent_span_id == b""
    assert collector.named("GET").end_time_unix_nano > 0


async def test_an_administrators_trace_goes_on_and_others_are_linked(
    collector: Collector, files: dict[int, str]
) -> None:
    options: dict[str, Any] = {"tracing_config_file": files[1_000_000]}
    async with Server(**options) as server, server.session() as session:
        alice = server.user("alice")
        headers = {"traceparent": PARENT}
        await session.get("/api/v1/namespaces", headers=headers)
        await session.get("/api/v1/nodes", headers={**headers, **alice.headers})
    span = collector.named("GET /api/v1/namespaces")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == tuple(PARENT.split("-")[1:3])
    span = collector.named("GET /api/v1/nodes")
    assert span.trace_id.hex() != PARENT.split("-")[1]
    assert [link.trace_id.hex() for link in span.links] == [PARENT.split("-")[1]]


async def test_at_rate_0_only_what_the_client_samples_is_sent(collector: Collector, files: dict[int, str]) -> None:
    async with Server(tracing_config_file=files[0]) as server, server.session() as session:
        await session.get("/api/v1/nodes")
        await session.get("/api/v1/namespaces", headers={"traceparent": PARENT})
    collector.named("GET /api/v1/namespaces")
    assert len(collector.spans) == 1


async def test_a_collector_that_is_away_delays_no_answer(collector: Collector, files: dict[int, str]) -> None:
    await asyncio.to_thread(collector.stop)
    async with Server(tracing_config_file=files[1_000_000]) as server, server.session() as session:
        assert (await session.get("/api/v1/nodes")).status == 200
