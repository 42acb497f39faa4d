"""Numbers beyond floats are refused where they are read, in kube-apiserver's words (UP-10, UP-13, UP-14)."""

from __future__ import annotations

import aiohttp
import pytest

from tests.api.custom import CRDS, THINGS, call, definition, thing, version

PLAIN = "json: cannot unmarshal number 1e309 into Go value of type float64"
MAP = "/api/v1/namespaces/default/configmaps"
PATCHES = [
    ("merge", '{"data":{"a":1e309}}', f"error decoding patch: {PLAIN}"),
    ("strategic-merge", '{"data":{"a":1e309}}', PLAIN),
    (
        "json",
        '[{"op":"add","path":"/data","value":{"a":1e309}}]',
        "error decoding patch: " + PLAIN.replace("Go value", "Go struct field jsonPatchOp.value"),
    ),
]


@pytest.mark.parametrize(("kind", "text", "message"), PATCHES, ids=[kind for kind, _, _ in PATCHES])
async def test_a_patch_is_refused(api: aiohttp.ClientSession, kind: str, text: str, message: str) -> None:
    await call(api, "POST", MAP, {"metadata": {"name": "m"}})
    async with api.patch(f"{MAP}/m", data=text, headers={"Content-Type": f"application/{kind}-patch+json"}) as r:
        assert (r.status, (await r.json())["message"]) == (400, message)


async def test_a_body_is_refused_and_texts_of_floats_are_those_of_go(api: aiohttp.ClientSession) -> None:
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    json = {"Content-Type": "application/json"}
    body = '{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"x"},"spec":%s}'
    async with api.post(THINGS, data=body % '{"a":1e309}', headers=json) as r:
        assert (r.status, (await r.json())["message"].endswith(PLAIN)) == (400, True)
    async with api.post(THINGS, data=body % '{"a":0.0000001,"b":-0.0,"c":1.0,"d":1e21}', headers=json) as r:
        assert (r.status, '"spec":{"a":1e-7,"b":0,"c":1,"d":1e+21}' in await r.text()) == (201, True)


async def test_entries_of_managed_fields_that_are_no_sets_are_dropped(api: aiohttp.ClientSession) -> None:
    entry = '{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":1e309}}'
    text = f'{{"metadata":{{"name":"m","managedFields":[{entry}]}}}}'
    async with api.post(MAP, data=text, headers={"Content-Type": "application/json"}) as r:
        assert (r.status, "managedFields" in (await r.json())["metadata"]) == (201, False)


async def test_a_yaml_body_has_no_infinity(api: aiohttp.ClientSession) -> None:
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    assert (await call(api, "POST", THINGS, thing("y")))[0] == 201
    text = "apiVersion: e.com/v1\nkind: Thing\nmetadata: {name: x}\nspec: {a: .inf}\n"
    async with api.post(THINGS, data=text, headers={"Content-Type": "application/yaml"}) as r:
        assert (r.status, "json: unsupported value: +Inf" in (await r.json())["message"]) == (400, True)
