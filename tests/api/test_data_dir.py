"""A server whose objects are on a disk."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from hydrofoil.storage.durable import DurableLog
from tests.api.calls import get, post
from tests.conftest import command

MAPS = "/api/v1/namespaces/default/configmaps"
SERVICE = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}], "type": "NodePort"}}
DEFINITION = {
    "metadata": {"name": "boats.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "boats", "kind": "Boat"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "selectableFields": [{"jsonPath": ".color"}],
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"color": {"type": "string"}}}},
            }
        ],
    },
}
BOATS = "/apis/example.com/v1/namespaces/default/boats"


@contextmanager
def served(folder: Path, *flags: str) -> Iterator[str]:
    """Run a server on a folder until it is killed; return its URL."""
    args = command("serve", "--port", "0", "--test-controls", "--data-dir", str(folder), *flags)
    with subprocess.Popen(args, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().removeprefix("serving on ").strip()
        finally:
            running.kill()


def called(url: str, body: Any = None, method: str | None = None) -> Any:
    """Return the answer to a request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())


def failed(url: str, body: Any = None, method: str | None = None) -> Any:
    """Return the Status of a request that fails."""
    with pytest.raises(urllib.error.HTTPError) as error:
        called(url, body, method)
    with error.value as answer:
        return json.loads(answer.read())


def settled(url: str) -> None:
    """Wait until controllers have written what follows from the objects."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    # An apply of the controls answers once they have; this one changes nothing.
    called(f"{url}/hydrofoil/v1/apply", namespace)


def everything(url: str) -> dict[str, str]:
    """Return the versions of all objects of the built-in groups, by path."""
    found = {}
    for prefix in ("/api/v1", *(f"/apis/{g['preferredVersion']['groupVersion']}" for g in groups(url))):
        for resource in called(f"{url}{prefix}")["resources"]:
            if "list" in resource["verbs"]:
                for item in called(f"{url}{prefix}/{resource['name']}")["items"]:
                    meta = item["metadata"]
                    key = f"{prefix}/{resource['name']}/{meta.get('namespace', '')}/{meta['name']}"
                    found[key] = meta.get("resourceVersion", "")
    return found


def groups(url: str) -> list[dict[str, Any]]:
    """Return the groups that are served."""
    found: list[dict[str, Any]] = called(f"{url}/apis")["groups"]
    return found


def events(url: str, count: int) -> list[tuple[str, str]]:
    """Return the first events of a watch: their types and names."""
    with urllib.request.urlopen(url, timeout=20) as stream:
        lines = [json.loads(stream.readline()) for _ in range(count)]
    return [(line["type"], line["object"]["metadata"]["name"]) for line in lines]


def test_a_killed_server_continues_where_it_was(tmp_path: Path) -> None:
    with served(tmp_path / "data") as url:
        called(f"{url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        for name, color in (("one", "red"), ("two", "blue")):
            boat = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": name}, "color": color}
            called(url + BOATS, boat)
        service = called(f"{url}/api/v1/namespaces/default/services", SERVICE)
        first = called(url + MAPS, {"metadata": {"name": "x"}})["metadata"]["resourceVersion"]
        for name in "yz":
            called(url + MAPS, {"metadata": {"name": name}})
        called(f"{url}{MAPS}/y", method="DELETE")
        settled(url)
        listed = called(f"{url}{MAPS}?limit=1")["metadata"]
        before = everything(url)
    with served(tmp_path / "data") as url:
        assert everything(url) == before, "a start changes nothing"
        rest = called(f"{url}{MAPS}?limit=5&continue={listed['continue']}")
        assert [item["metadata"]["name"] for item in rest["items"]] == ["z"]
        assert rest["metadata"]["resourceVersion"] == listed["resourceVersion"]
        shown = events(f"{url}{MAPS}?watch=1&resourceVersion={first}", 3)
        assert shown == [("ADDED", "y"), ("ADDED", "z"), ("DELETED", "y")]
        exact = called(f"{url}{MAPS}?resourceVersion={first}&resourceVersionMatch=Exact")["items"]
        assert [item["metadata"]["name"] for item in exact if item["metadata"]["name"] in "xyz"] == ["x"]
        boats = called(f"{url}{BOATS}?fieldSelector=color%3Dblue")["items"]
        assert [boat["metadata"]["name"] for boat in boats] == ["two"]
        ports = [{"port": 80, "nodePort": service["spec"]["ports"][0]["nodePort"]}]
        taken = {"metadata": {"name": "other"}, "spec": {"type": "NodePort", "ports": ports}}
        assert failed(f"{url}/api/v1/namespaces/default/services", taken)["code"] == 422
        taken = {
            "metadata": {"name": "other"},
            "spec": {"clusterIP": service["spec"]["clusterIP"], "ports": [{"port": 1}]},
        }
        assert failed(f"{url}/api/v1/namespaces/default/services", taken)["code"] == 422


def test_a_folder_in_use_ends_the_start_in_one_line(tmp_path: Path) -> None:
    with served(tmp_path / "data"):
        args = command("serve", "--port", "0", "--data-dir", str(tmp_path / "data"))
        done = subprocess.run(args, capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"hydrofoil: {tmp_path / 'data'}: another process uses this folder\n"


@pytest.mark.parametrize("sync", ["never", "interval=50ms"])
def test_a_killed_server_loses_nothing_however_it_syncs(tmp_path: Path, sync: str) -> None:
    with served(tmp_path / "data", "--data-sync", sync) as url:
        made = called(url + MAPS, {"metadata": {"name": "x"}})["metadata"]["resourceVersion"]
    with served(tmp_path / "data", "--data-sync", sync) as url:
        assert called(f"{url}{MAPS}/x")["metadata"]["resourceVersion"] == made
        assert int(called(url + MAPS, {"metadata": {"name": "y"}})["metadata"]["resourceVersion"]) > int(made)


@pytest.mark.parametrize("sync", ["sometimes", "interval=", "interval=0s", "interval=x"])
def test_other_kinds_of_syncs_are_refused(sync: str) -> None:
    args = command("serve", "--data-sync", sync)
    done = subprocess.run(args, capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode != 0
    assert "--data-sync" in done.stderr and done.stderr.count("\n") == 1


@pytest.fixture
def log(tmp_path: Path) -> DurableLog:
    return DurableLog(str(tmp_path / "data"))


@pytest.fixture
async def server(log: DurableLog, tmp_path: Path) -> AsyncIterator[Server]:
    server = Server(Config(port=0, data_dir=str(tmp_path / "data")), log)
    await server.start()
    yield server
    await server.stop()


async def test_a_full_disk_is_a_status(log: DurableLog, api: aiohttp.ClientSession) -> None:
    log._native.fail(full=True)
    refused = await post(api, MAPS, {"metadata": {"name": "x"}}, 500)
    assert refused["kind"] == "Status" and "no space left" in refused["message"]
    async with api.get("/readyz") as answer:
        assert answer.status == 200
    log._native.fail()
    await post(api, MAPS, {"metadata": {"name": "x"}})


async def test_a_failed_sync_shows_in_readyz(log: DurableLog, api: aiohttp.ClientSession) -> None:
    await post(api, MAPS, {"metadata": {"name": "x"}})
    log._native.fail(sync=True)
    for name in "yz":
        failed = await post(api, MAPS, {"metadata": {"name": name}}, 500)
        assert failed["kind"] == "Status" and "log-" in failed["message"]
    async with api.get("/readyz") as answer:
        assert answer.status == 500
        assert "[-]data-dir failed" in await answer.text()
    async with api.get("/livez") as answer:
        assert answer.status == 200
    assert (await get(api, f"{MAPS}/x"))["metadata"]["name"] == "x"


async def test_a_slow_disk_keeps_no_reader(log: DurableLog, api: aiohttp.ClientSession) -> None:
    log._native.fail(delay=0.3)
    async with api.post(MAPS + "?timeout=100ms", json={"metadata": {"name": "x"}}) as answer:
        assert answer.status == 504
    assert (await get(api, MAPS))["kind"] == "ConfigMapList"
