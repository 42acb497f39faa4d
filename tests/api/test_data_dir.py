"""A server whose objects are on a disk."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from hydrofoil.complaints import Complaint
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from hydrofoil.storage import durable
from hydrofoil.storage.durable import DurableLog
from tests.api.calls import get, post
from tests.api.data_dirs import BOATS, DEFINITION, MAPS, called, events, everything, failed, served, settled
from tests.conftest import command

SERVICE = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}], "type": "NodePort"}}


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
    line = f"hydrofoil: {tmp_path / 'data'}: another process uses this folder (--data-dir; it is the process "
    assert done.stderr.startswith(line) and done.stderr.count("\n") == 1


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


async def test_a_full_disk_is_a_status_and_a_line_of_the_log(
    log: DurableLog, api: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "NOT_TAKEN", Complaint("a write was not kept: {}"))
    log._native.fail(full=True)
    with caplog.at_level("WARNING", "hydrofoil"):
        for _ in range(3):
            refused = await post(api, MAPS, {"metadata": {"name": "x"}}, 500)
    said = [record.getMessage() for record in caplog.records if "a write was not kept" in record.getMessage()]
    assert len(said) == 1 and "no space left" in said[0]
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
