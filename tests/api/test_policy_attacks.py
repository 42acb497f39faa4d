"""Hostile policies: expressions that cost much end, and other users do not wait for them."""

from __future__ import annotations

import asyncio
import statistics

import aiohttp
import pytest

from hydrofoil.clock import stopwatch
from tests.api.calls import get, post
from tests.api.hooks import MAPS, made
from tests.api.policies import mutating, validating

SECRETS = "/api/v1/namespaces/default/secrets"
WORDS = {f"k{n}": "abcdefghij" * 10 for n in range(100)}
NESTED = "object.data.all(a, object.data.all(b, object.data.all(c, object.data.all(d, a + b + c + d != 'x'))))"
BOMBS = {
    "comprehensions": NESTED,
    "a text that grows": "object.data.k1.replace('', object.data.k2).replace('', object.data.k3).size() > 0",
    "a list that grows": "lists.range(100000).map(x, lists.range(1000)).size() > 0",
    "sorting": "lists.range(10000).map(x, -x).sort().size() > 0",
    "a pattern": "object.data.all(k, object.data[k].matches('(a|b|c|d|e|f)*(a|b|c)*(x+x+)+y'))",
    "a pattern from data": "object.data.all(k, object.data[k].matches('(' + object.data.k1 + ')*' + object.data.k2))",
    "sets": "sets.equivalent(lists.range(5000), lists.range(5000))",
    "questions": "['a','b','c','d','e'].all(v, authorizer.group('').resource('pods').check(v).allowed())",
}


async def median(api: aiohttp.ClientSession) -> float:
    times = []
    for _ in range(15):
        begun = stopwatch()
        await get(api, SECRETS)
        times.append(stopwatch() - begun)
    return statistics.median(times)


@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_ends_and_others_go_on(api: aiohttp.ClientSession, name: str) -> None:
    quiet = await median(api)
    await validating(api, {"expression": BOMBS[name]})
    creating = [asyncio.create_task(tried(api, n)) for n in range(2)]
    busy = await median(api)
    codes = await asyncio.gather(*creating)
    assert set(codes) <= {201, 422}
    assert busy < 20 * quiet + 0.002


async def tried(api: aiohttp.ClientSession, n: int) -> int:
    async with api.post(MAPS, json=made(f"x{n}", data=WORDS)) as answer:
        await answer.read()
        return answer.status


async def test_all_validations_together_have_a_budget(api: aiohttp.ClientSession) -> None:
    half = "object.data.all(a, object.data.all(b, object.data.all(c, a + b != 'x'))) || true"
    await validating(api, *[{"expression": half} for _ in range(30)])
    refused = await post(api, MAPS, made("x", data={f"k{n}": "v" for n in range(45)}), 422)
    assert refused["message"].endswith("running out of cost budget, no further validation rules will be run")


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("/metadata/namespace", "'kube-system'", 400),
        ("/metadata/resourceVersion", "'7'", 500),
        ("/kind", "'Secret'", 500),
        ("/apiVersion", "'v9'", 403),
        ("/metadata/uid", "'mine'", 201),
    ],
)
async def test_a_mutation_leaves_the_object_what_it_is(
    api: aiohttp.ClientSession, path: str, value: str, code: int
) -> None:
    await mutating(api, f"[JSONPatch{{op: 'add', path: '{path}', value: {value}}}]", "JSONPatch")
    created = await post(api, MAPS, made("a"), code)
    assert created["metadata"].get("uid") != "mine"


async def test_a_patch_that_nests_deeply_is_refused(api: aiohttp.ClientSession) -> None:
    deep = "[JSONPatch{op: 'add', path: '" + "/a" * 3000 + "', value: 1}]"
    await mutating(api, deep, "JSONPatch")
    await post(api, MAPS, made("a"), 403)
