"""An upstream that is away, and one that comes back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import orjson
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.upstreams import Pair, pair, until

CORE = "/api/v1/namespaces/default"
MAPS = f"{CORE}/configmaps"


async def create(session: aiohttp.ClientSession, name: str) -> int:
    """Create a config map; return its version."""
    async with session.post(MAPS, json={"metadata": {"name": name}}) as answer:
        assert answer.status == 201
        return int((await answer.json())["metadata"]["resourceVersion"])


async def leave(both: Pair) -> None:
    """Take the upstream away, and wait until the gateway knows."""
    both.between.refuse()
    await until(both.gateway.app.core.storage.problem)


async def come_back(both: Pair) -> None:
    await both.between.start()
    await until(lambda: not both.gateway.app.core.storage.problem())


@pytest.mark.parametrize("stale", [False, True])
async def test_what_is_known_is_answered_with_a_warning(tmp_path: Path, stale: bool) -> None:
    async with (
        pair(tmp_path, upstream_stale_reads=stale) as both,
        aiohttp.ClientSession(both.upstream.url) as there,
        aiohttp.ClientSession(both.gateway.url) as here,
    ):
        version = await create(there, "a")
        paths = (f"{MAPS}?resourceVersion=0", f"{MAPS}/a?resourceVersion={version}", f"{MAPS}/a", MAPS)
        for path in paths:
            async with here.get(path) as answer:
                assert (answer.status, answer.headers.get("Warning")) == (200, None)
        watch = await here.get(f"{MAPS}?watch=1&resourceVersion={version}")
        await leave(both)
        for path in paths:
            async with here.get(path) as answer:
                fresh = "resourceVersion" not in path
                assert answer.status == (503 if fresh and not stale else 200), path
                if answer.status == 200:
                    text = answer.headers["Warning"]
                    assert text.startswith('299 - "upstream unreachable, data is ') and text.endswith(' s old"')
                else:
                    assert (await answer.json())["reason"] == "ServiceUnavailable"
        for method, path in (("POST", MAPS), ("GET", "/version"), ("GET", "/api/v1/secrets?resourceVersion=0")):
            async with asyncio.timeout(5), here.request(method, path, json={}) as answer:
                body = await answer.json()
                assert (answer.status, body["kind"], body["code"]) == (503, "Status", 503), path
        async with here.get("/readyz") as answer:
            assert answer.status == 500
            assert "[-]upstream failed" in await answer.text()
        async with here.get("/livez") as answer:
            assert answer.status == 200
        await come_back(both)
        second = await create(there, "b")
        event = orjson.loads(await watch.content.readline())
        assert (event["type"], event["object"]["metadata"]["resourceVersion"]) == ("ADDED", str(second))
        watch.close()
        assert len(both.asked("GET /api/v1/configmaps?watch", "sendInitialEvents")) == 1, "it went on where it was"
        async with here.get("/readyz") as answer:
            assert answer.status == 200


async def test_an_upstream_that_is_silent_is_away(tmp_path: Path) -> None:
    async with (
        pair(tmp_path) as both,
        aiohttp.ClientSession(both.upstream.url) as there,
        aiohttp.ClientSession(both.gateway.url) as here,
    ):
        version = await create(there, "a")
        async with here.get(f"{MAPS}?resourceVersion=0") as answer:
            assert answer.status == 200
        watch = await here.get(f"{MAPS}?watch=1&resourceVersion={version}")
        both.between.hold()
        for path in ("/version", MAPS):
            async with asyncio.timeout(5), here.get(path) as answer:
                assert answer.status == 503
        second = await create(there, "b")
        both.between.release()
        await until(lambda: not both.gateway.app.core.storage.problem())
        event = orjson.loads(await watch.content.readline())
        assert event["object"]["metadata"]["resourceVersion"] == str(second)
        watch.close()


async def test_after_a_lost_history_the_difference_arrives_as_events(tmp_path: Path) -> None:
    """The upstream is another process with another history, as after a restart in memory."""
    async with pair(tmp_path) as both, aiohttp.ClientSession(both.gateway.url) as here:
        async with aiohttp.ClientSession(both.upstream.url) as there:
            await create(there, "gone")
            version = await create(there, "kept")
        await until(lambda: objects(both) == 3)
        watch = await here.get(f"{MAPS}?watch=1&resourceVersion={version}")
        await leave(both)
        second = Server(Config(port=0))
        await second.start()
        async with aiohttp.ClientSession(second.url) as there:
            versions = {await create(there, name) for name in ("kept", "new")}
        both.between.turn_to(second.url)
        await come_back(both)
        seen: dict[tuple[str, str], str] = {}
        while len(seen) < 4:
            event = orjson.loads(await watch.content.readline())
            metadata = event["object"]["metadata"]
            seen[event["type"], metadata["name"]] = metadata["resourceVersion"]
        watch.close()
        assert seen.keys() == {("DELETED", "gone"), ("DELETED", "kept"), ("ADDED", "kept"), ("ADDED", "new")}
        assert {int(seen["ADDED", name]) for name in ("kept", "new")} == versions
        await second.stop()


def objects(both: Pair) -> int:
    """Return the number of config maps in the view."""
    app = both.gateway.app
    mirror = app.mirrors.get(("", "v1", "configmaps"))  # type: ignore[attr-defined]
    return int(mirror.collection.size()[0])


async def test_a_gateway_starts_without_its_upstream(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        both.between.refuse()
        path = str(tmp_path / "upstream.yaml")
        gateway = Server(Config(port=0, upstream=path))
        starting = asyncio.create_task(gateway.start())
        await asyncio.sleep(0)
        await both.between.start()
        await starting
        async with aiohttp.ClientSession(gateway.url) as here, here.get(f"{MAPS}?resourceVersion=0") as answer:
            assert answer.status == 200
        await gateway.stop()


async def test_a_connection_that_stays_silent_is_left(tmp_path: Path) -> None:
    """The upstream is back, and nothing arrives on what was open before."""
    async with pair(tmp_path) as both, aiohttp.ClientSession(both.gateway.url) as here:
        async with here.get(f"{MAPS}?resourceVersion=0") as answer:
            assert answer.status == 200
        before = len(both.asked("configmaps?watch=true"))
        contact = both.gateway.app.contact  # type: ignore[attr-defined]
        contact.failed("nothing was heard")
        contact.answered()
        await until(lambda: len(both.asked("configmaps?watch=true")) == before + 1)
        async with aiohttp.ClientSession(both.upstream.url) as there:
            version = await create(there, "a")
        await until(lambda: objects(both) == 2)
        async with here.get(f"{MAPS}/a?resourceVersion={version}") as answer:
            assert answer.status == 200
