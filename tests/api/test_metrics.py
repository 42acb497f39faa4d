"""The series of `/metrics` that follow from requests, watches and lists."""

from __future__ import annotations

import re

import aiohttp

from hydrofoil import Server
from tests.api.custom import CRDS, THINGS, call, definition, thing, version


async def sample(session: aiohttp.ClientSession, name: str) -> float:
    """Return a sample by name and labels."""
    async with session.get("/metrics") as answer:
        text = await answer.text()
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found, name
    return float(found[1])


async def test_lists_watches_and_writes_are_counted() -> None:
    async with Server() as server, server.session() as session:
        path = "/api/v1/namespaces/default/secrets"
        for name in ("a", "b"):
            body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
            assert (await session.post(path, json=body, params={"fieldValidation": "Strict"})).status == 201
        for _ in range(3):
            async with session.get(path) as answer:
                assert len((await answer.json())["items"]) == 2
        async with session.get(path, params={"watch": "1"}) as stream:
            assert await stream.content.readline()
            assert await stream.content.readline()
            where = 'group="",resource="secrets",version="v1"'
            assert await sample(session, f"apiserver_watch_events_total{{{where}}}") == 2
        where = 'group="",resource="secrets"'
        assert await sample(session, 'apiserver_cache_list_total{group="",index="",resource="secrets"}') == 3
        assert await sample(session, f"apiserver_cache_list_returned_objects_total{{{where}}}") == 6
        assert await sample(session, f"apiserver_init_events_total{{{where}}}") == 2
        assert await sample(session, f"apiserver_watch_cache_events_received_total{{{where}}}") == 2
        async with session.get(path) as answer:
            version = int((await answer.json())["metadata"]["resourceVersion"])
        assert await sample(session, f"apiserver_watch_cache_resource_version{{{where}}}") == version % 10**15
        assert await sample(session, 'etcd_requests_total{group="",operation="create",resource="secrets"}') == 2
        assert await sample(session, 'authorization_attempts_total{result="allowed"}') >= 6
        assert await sample(session, 'authentication_attempts{result="success"}') >= 6
        assert await sample(session, "apiserver_tls_handshake_errors_total") == 0
        assert await sample(session, 'apiserver_storage_size_bytes{storage_cluster_id="hydrofoil-0"}') > 1000
        assert await sample(session, 'apiserver_current_inqueue_requests{request_kind="readOnly"}') == 0


async def test_counters_without_a_suffix_have_their_type() -> None:
    async with Server() as server, server.session() as session, session.get("/metrics") as answer:
        text = await answer.text()
    for name in ("authentication_attempts", "authenticated_user_requests"):
        assert f"# TYPE {name} counter\n" in text
        assert f"{name}_total" not in text


async def test_reads_of_the_view_are_counted() -> None:
    """`RecordListCacheMetrics`, `ConsistentReadTotal`: with all that a prefix has, selected or not."""
    async with Server() as server, server.session() as session:
        path = "/api/v1/namespaces/default/secrets"
        for name in ("a", "b", "c"):
            body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
            assert (await session.post(path, json=body)).status == 201
        for params in ({}, {"limit": "1"}, {"resourceVersion": "0"}, {"fieldSelector": "metadata.name!=a"}):
            async with session.get(path, params=params) as answer:
                assert answer.status == 200
        async with session.get("/api/v1/namespaces/other/secrets") as answer:
            assert answer.status == 200
        where = 'group="",resource="secrets"'
        name = 'apiserver_cache_list_fetched_objects_total{group="",index="",resource="secrets"}'
        assert await sample(session, name) == 12
        assert await sample(session, f"apiserver_cache_list_returned_objects_total{{{where}}}") == 9
        labels = f'fallback="false",{where},success="true"'
        assert await sample(session, f"apiserver_watch_cache_consistent_read_total{{{labels}}}") == 4
        assert await sample(session, f"apiserver_watch_cache_read_wait_seconds_count{{{where}}}") == 4
        assert await sample(session, f"apiserver_watch_cache_initializations_total{{{where}}}") == 1
        assert await sample(session, f"apiserver_storage_list_total{{{where}}}") == 1
        assert await sample(session, f"apiserver_storage_list_fetched_objects_total{{{where}}}") == 0


async def test_admission_has_quantiles() -> None:
    async with Server() as server, server.session() as session:
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
        assert (await session.post("/api/v1/namespaces/default/secrets", json=body)).status == 201
        labels = 'operation="CREATE",rejected="false",type="admit"'
        name = "apiserver_admission_step_admission_duration_seconds"
        count = await sample(session, f"{name}_summary_count{{{labels}}}")
        assert count == await sample(session, f"{name}_count{{{labels}}}") >= 1
        quantile = labels.replace(",", ',quantile="0.99",', 1)
        assert 0 < await sample(session, f"{name}_summary{{{quantile}}}") < 2.5


async def test_what_extends_the_api_is_counted(api: aiohttp.ClientSession) -> None:
    name = "apiserver_cel_{}_duration_seconds_count"
    before = [await sample(api, name.format(kind)) for kind in ("compilation", "evaluation")]
    schema = {"type": "object", "x-kubernetes-validations": [{"rule": "self.metadata.name != 'b'"}]}
    body = definition(version("v1", storage=True, schema=schema))
    assert (await call(api, "POST", CRDS, body))[0] == 201
    for thing_name, status in (("a", 201), ("b", 422)):
        assert (await call(api, "POST", THINGS, thing(thing_name)))[0] == status
    assert await sample(api, name.format("compilation")) > before[0]
    assert await sample(api, name.format("evaluation")) == before[1] + 2
    assert await sample(api, 'aggregator_unavailable_apiservice{name="v1.e.com"}') == 0
    assert await sample(api, "aggregator_discovery_aggregation_count_total") == 0
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    for _ in range(2):
        for path in ("/api", "/apis"):
            async with api.get(path, headers={"Accept": accept}) as answer:
                assert answer.status == 200
    assert await sample(api, "aggregator_discovery_aggregation_count_total") == 2
