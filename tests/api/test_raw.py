"""Members that upstream keeps as they were given (`runtime.RawExtension`)."""

from __future__ import annotations

from typing import Any

import aiohttp
import orjson
import pytest

PATH = "/apis/apps/v1/namespaces/default/controllerrevisions"
GIVEN = '{ "z" : 1.50,  "a":"<b>\\u00e9", "n": {"y":1, "x":2}, "z":3}'
COMPACT = '{"z":1.50,"a":"\\u003cb\\u003e\\u00e9","n":{"y":1,"x":2},"z":3}'
IMMUTABLE = "field is immutable"


def revision(name: str, data: str, number: int = 1) -> str:
    return f'{{"metadata": {{"name": "{name}"}}, "data": {data}, "revision": {number}}}'


async def send(
    api: aiohttp.ClientSession, verb: str, path: str, body: str, kind: str = "application/json"
) -> tuple[int, str]:
    async with api.request(verb, path, data=body, headers={"Content-Type": kind}) as r:
        return r.status, await r.text()


def causes(text: str) -> list[str]:
    return [cause["message"] for cause in orjson.loads(text)["details"]["causes"]]


async def test_what_was_given_is_shown_without_white_space(api: aiohttp.ClientSession) -> None:
    code, made = await send(api, "POST", PATH, revision("shown", GIVEN))
    assert code == 201
    assert f'"data":{COMPACT},' in made
    async with api.get(f"{PATH}/shown") as r:
        assert f'"data":{COMPACT},' in await r.text()
    async with api.get(f"{PATH}/shown", headers={"Accept": "application/vnd.kubernetes.protobuf"}) as r:
        assert GIVEN.encode() in await r.read()


async def test_what_may_not_change_is_compared_as_it_was_given(api: aiohttp.ClientSession) -> None:
    """`ValidateControllerRevisionUpdate` compares the bytes."""
    await send(api, "POST", PATH, revision("fixed", GIVEN))
    code, text = await send(api, "PUT", f"{PATH}/fixed", revision("fixed", GIVEN, 2))
    assert code == 200
    assert orjson.loads(text)["metadata"]["managedFields"][0]["fieldsV1"] == {"f:data": {}, "f:revision": {}}
    for other in (COMPACT, GIVEN.replace('"z":3', '"z":4'), '{"a":1}'):
        code, text = await send(api, "PUT", f"{PATH}/fixed", revision("fixed", other, 2))
        assert (code, len(causes(text))) == (422, 1)
    assert causes(text) == [f'Invalid value: {{"a":1}}: {IMMUTABLE}']


@pytest.mark.parametrize(
    ("kind", "patch", "shown"),
    [
        ("merge-patch+json", {"revision": 5}, COMPACT),
        ("json-patch+json", [{"op": "add", "path": "/revision", "value": 5}], COMPACT),
        ("strategic-merge-patch+json", {"revision": 5}, '{"a":"\\u003cb\\u003eé","n":{"x":2,"y":1},"z":3}'),
    ],
)
async def test_patches_lose_the_white_space(api: aiohttp.ClientSession, kind: str, patch: Any, shown: str) -> None:
    name = f"patched-{kind.partition('-')[0]}"
    await send(api, "POST", PATH, revision(name, GIVEN))
    code, text = await send(api, "PATCH", f"{PATH}/{name}", orjson.dumps(patch).decode(), f"application/{kind}")
    assert (code, causes(text)) == (422, [f"Invalid value: {shown}: {IMMUTABLE}"])


async def test_data_without_white_space_survives_patches(api: aiohttp.ClientSession) -> None:
    await send(api, "POST", PATH, revision("kept", '{"b":1,"a":2}'))
    code, text = await send(api, "PATCH", f"{PATH}/kept", '{"revision":5}', "application/merge-patch+json")
    assert code == 200
    assert '"data":{"b":1,"a":2}' in text
    added = '[{"op":"add","path":"/data/0","value":{"y":1,"x":2}}]'
    code, text = await send(api, "PATCH", f"{PATH}/kept", added, "application/json-patch+json")
    assert causes(text) == [f'Invalid value: {{"0":{{"y":1,"x":2}},"a":2,"b":1}}: {IMMUTABLE}']


async def test_an_apply_that_changes_nothing_leaves_the_data_alone(api: aiohttp.ClientSession) -> None:
    await send(api, "POST", PATH, revision("applied", GIVEN))
    config: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": "applied"},
        "revision": 1,
    }
    path, kind = f"{PATH}/applied?fieldManager=m", "application/apply-patch+yaml"
    code, text = await send(api, "PATCH", path, orjson.dumps(config).decode(), kind)
    assert code == 200, text
    assert f'"data":{COMPACT},' in text
    config["metadata"]["labels"] = {"a": "b"}
    code, text = await send(api, "PATCH", path, orjson.dumps(config).decode(), kind)
    assert code == 422
    assert IMMUTABLE in text


async def test_parameters_of_drivers_are_bounded_as_they_are_given(api: aiohttp.ClientSession) -> None:
    """`validateRawExtension`: 10 KiB, white space included."""
    path = "/apis/resource.k8s.io/v1/deviceclasses"
    for spaces, expected in ((10 * 1024 - 2, 201), (10 * 1024 - 1, 422)):
        opaque = f'{{"driver":"a.example.com","parameters":{{{" " * spaces}}}}}'
        body = f'{{"metadata":{{"name":"c{spaces}"}},"spec":{{"config":[{{"opaque":{opaque}}}]}}}}'
        code, text = await send(api, "POST", path, body)
        assert code == expected, text
    assert causes(text) == ["Too long: may not be more than 10240 bytes"]
