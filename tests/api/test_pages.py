"""Pages about a server: flags, state, profiles, priority and fairness, metrics."""

from __future__ import annotations

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server, StartError

PAGES = "/debug/api_priority_and_fairness/"


async def test_pages_are_served(api: aiohttp.ClientSession) -> None:
    for path, media, begin in (
        ("/flagz", "text/plain", "\napiserver flagz\n"),
        ("/statusz", "text/plain", "\napiserver statusz\n"),
        ("/debug/pprof/", "text/html", "<html>"),
        ("/debug/pprof/goroutine", "text/plain", "goroutine profile: total "),
        ("/debug/pprof/mutex", "text/plain", "--- mutex: not measured"),
        ("/debug/flags/", "text/html", "<html>"),
        (f"{PAGES}dump_priority_levels", "text/plain", "PriorityLevelName, ActiveQueues"),
        (f"{PAGES}dump_queues", "text/plain", "PriorityLevelName, Index"),
        (f"{PAGES}dump_requests?includeRequestDetails=1", "text/plain", "PriorityLevelName, FlowSchemaName"),
    ):
        async with api.get(path) as r:
            assert r.status == 200 and r.headers["Content-Type"].startswith(media), path
            assert (await r.text()).startswith(begin), path
    async with api.get("/debug/pprof", allow_redirects=False) as r:
        assert r.status == 302 and r.headers["Location"] == "/debug/pprof/"
    for path in ("/debug/pprof/nothing", f"{PAGES}nothing", "/debug/nothing", "/configz"):
        async with api.get(path) as r:
            assert r.status == 404, path
    async with api.get("/statusz", headers={"Accept": "application/yaml;v=v1alpha1;g=config.k8s.io;as=Statusz"}) as r:
        assert r.status == 200 and "deprecated" in r.headers["Warning"]
        assert "kind: Statusz" in await r.text()


async def test_the_log_level_can_be_set(api: aiohttp.ClientSession) -> None:
    async with api.put("/debug/flags/v", data="0") as r:
        assert (r.status, await r.text()) == (200, "successfully set klog.logging.verbosity to 0\n")
    for ill in ("x\n\x1b", "-1", "9" * 100, ""):
        async with api.put("/debug/flags/v", data=ill) as r:
            assert r.status == 400 and len((await r.text()).splitlines()) == 1
    async with api.get("/debug/flags/v") as r:
        assert r.status == 406


async def test_pages_can_be_switched_off() -> None:
    server = Server(Config(port=0, profiling=False, enable_priority_and_fairness=False))
    await server.start()
    try:
        async with aiohttp.ClientSession(server.url) as session:
            for path in ("/debug/pprof/", "/debug/flags/v", f"{PAGES}dump_queues"):
                async with session.get(path) as r:
                    assert r.status == 404, path
    finally:
        await server.stop()


async def test_an_older_version_lacks_what_is_newer() -> None:
    from hydrofoil.options import Texts

    server = Server(Config(port=0, emulated_version=Texts(("1.35",))))
    await server.start()
    try:
        async with aiohttp.ClientSession(server.url) as session:
            async with session.get("/flagz") as r:
                assert r.status == 404
            async with session.get("/version") as r:
                found = await r.json()
                assert (found["minor"], found["emulationMinor"], found["minCompatibilityMinor"]) == ("36", "35", "34")
    finally:
        await server.stop()


async def test_nothing_served_refuses_the_start() -> None:
    why = (
        r"^\[--runtime-config=api/all=false conflicts with --enable-priority-and-fairness=true, invalid runtime-config"
    )
    with pytest.raises(StartError, match=why):
        await Server(Config(port=0, runtime_config={"api/all": False})).start()


async def test_missing_objects_are_made_again(server: Server, api: aiohttp.ClientSession) -> None:
    path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all"
    async with api.delete(path) as r:
        assert r.status == 200
    fair = server.app.limits.fairness
    assert fair is not None and fair.bring_back is not None
    await fair.bring_back()
    async with api.get(path) as r:
        assert r.status == 200
