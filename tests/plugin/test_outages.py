"""A server that is down, or that has started again."""

from __future__ import annotations

import http.client
import urllib.request

import aiohttp
import httpx
import pytest

from hydrofoil import Server
from hydrofoil.testing.remote_server import RemoteServer
from tests.plugin.conftest import MAPS, call, make, names

BROKEN = (OSError, http.client.HTTPException)


def test_a_server_is_down_as_long_as_the_fault_is_there(elsewhere: RemoteServer) -> None:
    make(elsewhere, "a")
    with urllib.request.urlopen(f"{elsewhere.url}{MAPS}?watch=1&resourceVersion=0", timeout=20) as watch:
        assert watch.readline()
        fault = elsewhere.faults.add("down")
        # What was sent before may still come.
        with pytest.raises(BROKEN):
            while watch.readline():
                pass
            raise ConnectionError
    for path in (MAPS, "/readyz", "/version", "/apis"):
        with pytest.raises(BROKEN):
            call(elsewhere, "GET", path)
    assert (fault.seen, fault.hits) == (5, 5)
    assert elsewhere.requests.of(verb="list")[-1].code == 0
    assert elsewhere.requests.of(verb="list")[-1].fault == "down"
    assert elsewhere.get("configmaps/a"), "the test itself goes on"
    fault.remove()
    assert names(elsewhere) == ["a"]


def test_it_is_down_for_who_has_no_rights_too(elsewhere: RemoteServer) -> None:
    elsewhere.faults.add("down")
    for headers in (elsewhere.user("bob").headers, {"Authorization": "Bearer unknown"}):
        with pytest.raises(BROKEN):
            call(elsewhere, "GET", MAPS, headers=headers)


def test_it_may_be_down_for_one_client(elsewhere: RemoteServer) -> None:
    elsewhere.faults.add("down", agent="operator*")
    assert call(elsewhere, "GET", MAPS)[0] == 200
    with pytest.raises(BROKEN):
        call(elsewhere, "GET", MAPS, headers={"User-Agent": "operator/1"})
    with pytest.raises(TypeError, match="down has no parameter 'resource'"):
        elsewhere.faults.add("down", resource="configmaps")


async def test_it_is_down_in_memory() -> None:
    async with Server() as server, httpx.AsyncClient(transport=server.transport()) as client:
        server.faults.add("down")
        with pytest.raises(httpx.TransportError):
            await client.get(MAPS)
        server.faults.clear()
        assert (await client.get(MAPS)).status_code == 200


def test_tests_in_other_languages_can_end_it() -> None:
    with Server.in_thread(test_controls="true") as server:
        status, fault = call(server, "POST", "/hydrofoil/v1/faults", {"action": "down"})
        assert status == 201
        with pytest.raises(BROKEN):
            call(server, "GET", MAPS)
        assert call(server, "GET", f"/hydrofoil/v1/faults/{fault['id']}")[1]["hits"] == 1
        call(server, "DELETE", "/hydrofoil/v1/faults")
        assert call(server, "GET", MAPS)[0] == 200


def test_tests_in_other_languages_can_restart_it() -> None:
    with (
        Server.in_thread(test_controls="true") as server,
        urllib.request.urlopen(f"{server.url}{MAPS}?watch=1", timeout=20) as watch,
    ):
        assert call(server, "POST", "/hydrofoil/v1/restart")[0] == 200
        with pytest.raises(BROKEN):
            watch.readline()
            raise ConnectionError
        assert call(server, "GET", MAPS)[0] == 200


def test_a_restart_breaks_connections_and_ends_the_history(elsewhere: RemoteServer) -> None:
    url, bob = elsewhere.url, elsewhere.user("bob")
    first = make(elsewhere, "a")["metadata"]["resourceVersion"]
    make(elsewhere, "b")
    with urllib.request.urlopen(f"{url}{MAPS}?watch=1&resourceVersion={first}", timeout=20) as watch:
        assert watch.readline()
        elsewhere.restart()
        with pytest.raises(BROKEN):
            while watch.readline():
                pass
            raise ConnectionError
    assert (elsewhere.url, names(elsewhere)) == (url, ["a", "b"])
    assert call(elsewhere, "GET", f"{MAPS}?watch=1&resourceVersion={first}")[1]["object"]["code"] == 410
    assert call(elsewhere, "GET", MAPS, headers=bob.headers)[0] == 403, "users stay"
    elsewhere.reset()
    assert names(elsewhere) == []
    elsewhere.stop()
    with pytest.raises(RuntimeError, match="not running"):
        elsewhere.restart()


async def test_a_restart_in_the_loop() -> None:
    async with Server() as server, server.session() as session:
        async with session.get(MAPS, params={"watch": "1"}) as watch:
            server.restart()
            with pytest.raises(aiohttp.ClientError):
                await watch.content.readline()
        async with session.get(MAPS) as answer:
            assert answer.status == 200
