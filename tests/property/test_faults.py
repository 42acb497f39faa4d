"""Faults fire exactly as often as they are asked to, and a clock that stands still never moves by itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydrofoil import Server
from hydrofoil.testing.remote_server import RemoteServer

NAMES = ("a", "b")
RESOURCES = ("configmaps", "secrets")
FAULTS = st.lists(
    st.fixed_dictionaries(
        {"code": st.sampled_from((418, 500, 503)), "resource": st.sampled_from((*RESOURCES, "*"))},
        optional={
            "name": st.sampled_from(NAMES),
            "verb": st.sampled_from(("get", "delete")),
            "nth": st.integers(1, 4),
            "times": st.integers(1, 3),
        },
    ),
    max_size=4,
)
REQUESTS = st.lists(
    st.tuples(st.sampled_from(("get", "delete")), st.sampled_from(RESOURCES), st.sampled_from(NAMES)), max_size=12
)
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), st.just(0)),
        st.tuples(st.just("advance"), st.integers(0, 10**6)),
        st.tuples(st.just("freeze"), st.integers(0, 10**9)),
        st.tuples(st.just("stay"), st.just(0)),
    ),
    max_size=10,
)


@pytest.fixture(scope="module")
def server() -> Iterator[RemoteServer]:
    """Yield one server for all cases."""
    with Server.in_thread() as server:
        yield server


@pytest.fixture(scope="module")
def client(server: RemoteServer) -> Iterator[httpx.Client]:
    """Yield a client of the server."""
    with httpx.Client(base_url=server.url, timeout=20) as client:
        yield client


@pytest.fixture(autouse=True)
def unguarded(no_blocking: BlockBuster) -> None:
    """Let the test itself wait for another thread."""
    no_blocking.deactivate()


class Model:
    """One fault, as the documents describe it."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.asked = asked
        self.seen = self.hits = 0

    def acts(self, verb: str, resource: str, name: str, *, alone: bool) -> bool:
        """Count a request; report whether the fault acts on it, unless another one does."""
        asked = self.asked
        if (
            asked["resource"] not in (resource, "*")
            or asked.get("name", name) != name
            or asked.get("verb", verb) != verb
        ):
            return False
        self.seen += 1
        if not alone or self.hits >= asked.get("times", 99) or asked.get("nth", self.seen) != self.seen:
            return False
        self.hits += 1
        return True


@given(asked=FAULTS, requests=REQUESTS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_faults_fire_as_often_as_asked(
    server: RemoteServer, client: httpx.Client, asked: list[dict[str, Any]], requests: list[tuple[str, str, str]]
) -> None:
    server.reset()
    faults = [server.faults.add("status", **given) for given in asked]
    models = [Model(given) for given in asked]
    for verb, resource, name in requests:
        code = 404
        for model in models:
            if model.acts(verb, resource, name, alone=code == 404):
                code = model.asked["code"]
        path = f"/api/v1/namespaces/default/{resource}/{name}"
        assert client.request(verb.upper(), path).status_code == code
    assert [(f.seen, f.hits) for f in faults] == [(m.seen, m.hits) for m in models]
    assert len(server.faults) == len(asked)


@given(acts=ACTS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_frozen_clock_never_moves_by_itself(
    server: RemoteServer, client: httpx.Client, acts: list[tuple[str, int]]
) -> None:
    server.reset()
    expected = datetime(2026, 1, 1, tzinfo=UTC)
    server.clock.freeze(expected)
    for verb, number in acts:
        if verb == "advance":
            server.clock.advance(number)
            expected += timedelta(seconds=number)
        elif verb == "freeze":
            expected = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
            server.clock.freeze(expected)
        elif verb == "stay":
            server.clock.freeze()
        else:
            body = {"metadata": {"generateName": "a-"}}
            made = client.post("/api/v1/namespaces/default/configmaps", json=body).json()
            assert made["metadata"]["creationTimestamp"] == expected.strftime("%Y-%m-%dT%H:%M:%SZ")
        assert server.clock.now == expected
