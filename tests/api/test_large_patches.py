"""Large patches are processed off the loop, so that others are answered meanwhile (UP-13)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import aiohttp
import pytest

from hydrofoil.pace.sizes import LARGE
from hydrofoil.pool import POOLED_TRIES
from hydrofoil.server.run import Server
from tests.turns import Turns

URL = "/api/v1/namespaces/default/configmaps"
STEPS = ["there", "there", "seal"]
"""The steps off the loop once a patch is applied to its object: defaults and owners, preparation, the stored form."""
MANY = {f"k{i}": "v" for i in range(LARGE // 8)}
HEAD = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n"}}
PATCHES = {
    "application/merge-patch+json": {"data": MANY},
    "application/strategic-merge-patch+json": {"data": MANY},
    "application/json-patch+json": [{"op": "add", "path": f"/data/{k}", "value": "v"} for k in MANY],
    "application/apply-patch+yaml": {**HEAD, "data": MANY},
}


class Pool(ThreadPoolExecutor):
    """A pool that notes what it is given, and does something after each work."""

    given: list[str]
    after: Callable[[], None]

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given.append(work.__name__)
        done = Future[Any]()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as e:
            done.set_exception(e)
        self.after()
        return done


@pytest.fixture
async def pool(server: Server, turns: Turns) -> AsyncIterator[Pool]:
    # Here the pool's work is done on the loop.
    turns.bound = math.inf
    pool = Pool(1)
    pool.given, pool.after = [], lambda: None
    asyncio.get_running_loop().set_default_executor(pool)
    yield pool


async def patch(api: aiohttp.ClientSession, media: str, body: object) -> tuple[int, Any]:
    params = {"fieldManager": "m", "force": "true"} if "apply" in media else {}
    async with api.patch(f"{URL}/n", data=json.dumps(body), params=params, headers={"Content-Type": media}) as r:
        return r.status, await r.json()


async def create(api: aiohttp.ClientSession, data: dict[str, str]) -> None:
    async with api.post(URL, json={**HEAD, "data": data}) as r:
        assert r.status == 201


@pytest.mark.parametrize("media", PATCHES)
async def test_a_large_patch_leaves_the_loop(api: aiohttp.ClientSession, pool: Pool, media: str) -> None:
    await create(api, {"old": "1"})
    status, answer = await patch(api, media, PATCHES[media])
    assert (status, answer["data"]) == (200, {"old": "1", **MANY})
    assert pool.given[1:] == [*STEPS, "object_answer"]


async def test_a_small_patch_stays_unless_its_object_is_large(api: aiohttp.ClientSession, pool: Pool) -> None:
    media, small = "application/merge-patch+json", {"data": {"k": "2"}}
    await create(api, {"k": "1"})
    assert (await patch(api, media, small))[0] == 200 and pool.given == []
    assert (await patch(api, media, {"data": MANY}))[0] == 200
    pool.given.clear()
    assert (await patch(api, media, small))[0] == 200 and pool.given[1:] == [*STEPS, "object_answer"]


async def test_an_apply_that_creates_leaves_the_loop(api: aiohttp.ClientSession, pool: Pool) -> None:
    media = "application/apply-patch+yaml"
    assert (await patch(api, media, PATCHES[media]))[0] == 201
    assert pool.given[1:] == [*STEPS, "object_answer"]


async def test_an_error_off_the_loop_is_answered(api: aiohttp.ClientSession, pool: Pool) -> None:
    await create(api, {"old": "1"})
    status, answer = await patch(api, "application/merge-patch+json", {"data": {**MANY, "old": 5}})
    assert (status, answer["reason"]) == (422, "Invalid") and len(pool.given) == 1


async def test_large_patches_of_one_object_take_turns(api: aiohttp.ClientSession) -> None:
    """None of them works in vain, and none ends up on the loop."""
    given: list[str] = []

    class Noting(ThreadPoolExecutor):
        def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            given.append(work.__name__)
            return super().submit(work, *args, **kwargs)

    await create(api, MANY)
    asyncio.get_running_loop().set_default_executor(Noting())
    count = 3 * POOLED_TRIES
    media = "application/merge-patch+json"
    answers = await asyncio.gather(*(patch(api, media, {"data": {f"n{i}": "1"}}) for i in range(count)))
    assert [status for status, _ in answers] == [200] * count
    assert given.count("there") == 2 * given.count("seal") == 2 * count
    _, last = await patch(api, media, {})
    assert last["data"] == MANY | {f"n{i}": "1" for i in range(count)}


async def test_a_busy_object_is_patched_in_the_end(server: Server, api: aiohttp.ClientSession, pool: Pool) -> None:
    """Writes of others during every attempt do not prevent a large patch."""
    await create(api, {"old": "1"})
    registry = server.app.core.registry
    resource = next(r for r in registry.catalog.resources() if r.plural == "configmaps")
    collection = registry.collection(resource)

    def write() -> None:
        old = collection.get(resource.native, "default", "n")
        assert old is not None
        draft = old.thaw()
        draft.set(["data", "old"], json.dumps(str(len(pool.given))).encode())
        with contextlib.suppress(StopIteration):
            collection.update(old, draft).__await__().send(None)

    pool.after = write
    media = "application/merge-patch+json"
    status, answer = await patch(api, media, {"data": MANY})
    assert (status, len(answer["data"])) == (200, len(MANY) + 1)
    tries = POOLED_TRIES * (1 + len(STEPS))
    assert len(pool.given) == tries + 1
    assert answer["data"]["old"] == str(tries)
