"""Custom resources through another version than the stored one, and defaults on reads (CRD-10 to CRD-27)."""

from __future__ import annotations

from typing import Any

import aiohttp

from tests.api.custom import CRDS, THINGS, call, definition, thing, version

TEXT = {"type": "string"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}


def schema(**properties: Any) -> dict[str, Any]:
    """Return a closed schema."""
    return {"type": "object", "properties": properties}


async def test_a_dry_run_through_another_version_shows_what_would_be_stored(api: aiohttp.ClientSession) -> None:
    stored = schema(both=TEXT, own={**TEXT, "default": "x"})
    other = schema(both=TEXT, lost=TEXT)
    versions = version("v1", storage=True, schema=stored), version("v2", schema=other)
    assert (await call(api, "POST", CRDS, definition(*versions)))[0] == 201
    things = THINGS.replace("v1", "v2")
    body = thing("a", "e.com/v2", both="b", lost="l")
    for path in (f"{things}?dryRun=All", things):
        status, shown = await call(api, "POST", path, body)
        assert (status, shown["both"]) == (201, "b")
        assert not {"lost", "own"} & shown.keys()
    assert (await call(api, "GET", f"{THINGS}/a"))[1]["own"] == "x"


async def test_a_status_that_may_not_be_given_has_its_default(api: aiohttp.ClientSession) -> None:
    own = schema(status={"type": "object", "default": {"phase": "New"}, "properties": {"phase": TEXT}})
    versions = version("v1", storage=True, schema=own, subresources={"status": {}})
    assert (await call(api, "POST", CRDS, definition(versions)))[0] == 201
    status, shown = await call(api, "POST", THINGS, thing("a", status={"phase": "Mine"}))
    assert (status, shown["status"]) == (201, {"phase": "New"})


async def test_nulls_of_a_configuration_are_held_against_it(api: aiohttp.ClientSession) -> None:
    versions = version("v1", storage=True, schema=schema(a=TEXT))
    assert (await call(api, "POST", CRDS, definition(versions)))[0] == 201
    status, refused = await call(api, "PATCH", f"{THINGS}/a?fieldManager=m", thing("a", a=None), **APPLY)
    assert status == 422
    assert refused["details"]["causes"] == [
        {
            "reason": "FieldValueTypeInvalid",
            "message": 'Invalid value: "null": a in body must be of type string: "null"',
            "field": "a",
        }
    ]
    # Other writes drop them.
    status, shown = await call(api, "POST", THINGS, thing("a", a=None))
    assert status == 201
    assert "a" not in shown


async def test_metadata_is_read_by_itself(api: aiohttp.ClientSession) -> None:
    inner = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    assert (await call(api, "POST", CRDS, definition(version("v1", storage=True, schema=schema(inner=inner)))))[
        0
    ] == 201
    bad = thing("a")
    bad["metadata"]["labels"] = 1
    _, refused = await call(api, "POST", THINGS, bad)
    why = "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string"
    assert refused["message"] == f'Thing in version "v1" cannot be handled as a Thing: {why}'
    within = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": 1}}
    _, refused = await call(api, "POST", THINGS, thing("a", inner=within))
    assert refused["message"].endswith(f'inner.metadata: Invalid value: {{"labels":1}}: {why}')
    status, shown = await call(api, "POST", THINGS, thing("a", inner={**within, "metadata": None}))
    assert (status, shown["inner"]["metadata"]) == (201, {})


async def test_formats_of_numbers_are_known_by_their_type(api: aiohttp.ClientSession) -> None:
    odd = schema(
        a={"type": "integer", "format": "float"},
        b={"type": "number", "format": "double"},
        c={"type": "boolean", "format": "uri"},
    )
    async with api.post(CRDS, json=definition(version("v1", storage=True, schema=odd))) as r:
        warnings = r.headers.getall("Warning")
    assert warnings == ['299 - "unrecognized format \\"float\\""', '299 - "unrecognized format \\"uri\\""']


async def test_parts_of_a_definition_that_nobody_can_read(api: aiohttp.ClientSession) -> None:
    async def reported(part: Any, **more: Any) -> Any:
        _, answer = await call(
            api, "POST", CRDS, definition(version("v1", storage=True, schema=schema(p=part)), **more)
        )
        causes = answer.get("details", {}).get("causes", [])
        return [(c["field"], c["message"]) for c in causes] or answer.get("message")

    at = "spec.validation.openAPIV3Schema"
    required = [(f"{at}.properties[p].items", "Required value: must be specified")]
    assert await reported({"type": "array", "items": "x"}) == required
    assert await reported({"type": "array", "items": []}) == required
    assert (await reported({"type": "object", "additionalProperties": 1})).endswith(": boolean or JSON schema expected")
    twice = definition(*2 * [version("v1", storage=True)])
    _, answer = await call(api, "POST", CRDS, twice)
    assert answer["details"]["causes"][2]["message"] == 'Invalid value: ["v1"]: must have the storage version v1'
    unsupported = [(at, "Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported")]
    assert await reported({"type": "string", "$schema": "x"}) == unsupported
    # Only what the root's junctors name has to be named beside them.
    assert await reported({"type": "object", "oneOf": [{"properties": {"zz": {"minimum": 1}}}]}) is None


async def test_a_status_of_one_version_is_not_that_of_another(api: aiohttp.ClientSession) -> None:
    open_root = {"type": "object", "maxProperties": 9}
    first = version("v1", storage=True, schema=schema(a=TEXT), subresources={"status": {}})
    assert (await call(api, "POST", CRDS, definition(first, version("v2", schema=open_root))))[0] == 201
    second = version("v2", schema=open_root, subresources={"status": {}})
    path = f"{CRDS}?dryRun=All"
    body = definition(version("v1", storage=True, schema=schema(a=TEXT)), second, plural="others", kind="Other")
    status, refused = await call(api, "POST", path, body)
    assert (status, refused["details"]["causes"][0]["field"]) == (422, "spec.versions[1].schema.openAPIV3Schema")


async def test_reserved_words_are_fields_under_both_names(api: aiohttp.ClientSession) -> None:
    for name in ("namespace", "__namespace__"):
        spec = {**schema(namespace=TEXT), "x-kubernetes-validations": [{"rule": f"self.{name} == 'a'"}]}
        own = version("v1", storage=True, schema=schema(spec=spec))
        assert (await call(api, "POST", CRDS, definition(own)))[0] == 201
        assert (await call(api, "POST", THINGS, thing("a", spec={"namespace": "a"})))[0] == 201
        assert (await call(api, "POST", THINGS, thing("b", spec={"namespace": "b"})))[0] == 422
        await call(api, "DELETE", f"{THINGS}/a")
        await call(api, "DELETE", f"{CRDS}/things.e.com")


async def test_owners_of_what_no_longer_fits_are_forgotten(api: aiohttp.ClientSession) -> None:
    """`FieldManager.UpdateNoErrors` drops them, and an apply reports why it fails."""
    versions = version("v1", storage=True, schema=schema(a=TEXT, b=TEXT))
    assert (await call(api, "POST", CRDS, definition(versions)))[0] == 201
    _, made = await call(api, "POST", THINGS, thing("a", a="x", b="y"))
    assert made["metadata"]["managedFields"]
    _, crd = await call(api, "GET", f"{CRDS}/things.e.com")
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema(a={"type": "integer"}, b=TEXT)
    assert (await call(api, "PUT", f"{CRDS}/things.e.com", crd))[0] == 200
    status, refused = await call(api, "PATCH", f"{THINGS}/a?fieldManager=m", thing("a", b="z"), **APPLY)
    why = "failed to create typed live object (default/a; e.com/v1, Kind=Thing): "
    assert (status, refused["message"]) == (500, f"{why}.a: expected numeric (int or float), got string")
    merge = {"Content-Type": "application/merge-patch+json"}
    # The value itself is as it was before, which is not held against the object.
    status, shown = await call(api, "PATCH", f"{THINGS}/a", {"b": "z"}, **merge)
    assert (status, shown["b"], "managedFields" in shown["metadata"]) == (200, "z", False)


async def test_an_apply_that_does_not_fit_says_why(api: aiohttp.ClientSession) -> None:
    """Values are shown as Go prints structured-merge-diff's wrapper of them."""
    date = {"type": "string", "format": "date-time"}
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    item = {"type": "object", "properties": {"k": TEXT}, "required": ["k"]}
    own = schema(s=TEXT, d=date, l={"type": "array", "items": item, **keyed})
    assert (await call(api, "POST", CRDS, definition(version("v1", storage=True, schema=own))))[0] == 201
    cases: list[tuple[dict[str, Any], str]] = [
        ({"s": 1}, ".s: expected string, got &value.valueUnstructured{Value:1}"),
        ({"d": ["x"]}, ".d: expected any scalar, got &{[x]}"),
        ({"l": [5, 6]}, ".l: element 0: associative list with keys may not have non-map elements"),
    ]
    for given, why in cases:
        status, refused = await call(api, "PATCH", f"{THINGS}/a?fieldManager=m", thing("a", **given), **APPLY)
        assert status == 500
        assert refused["message"] == f"failed to create typed patch object (/a; e.com/v1, Kind=Thing): {why}"


async def test_a_pointer_to_nothing_is_not_nil_in_a_definition(api: aiohttp.ClientSession) -> None:
    """Subresources of one version that are `{}` are not those of another that has a status (CRD-08)."""
    merge = {"Content-Type": "application/merge-patch+json"}
    kept = schema(a=TEXT)

    def subresources(*each: dict[str, Any] | None) -> list[dict[str, Any]]:
        named = [version(f"v{i}", storage=i == 0, schema=kept) for i, _ in enumerate(each)]
        return [{**v, "subresources": own} if own is not None else v for v, own in zip(named, each, strict=True)]

    made = subresources({"status": {}}, {})
    status, shown = await call(api, "POST", CRDS, definition(*made))
    assert (status, [v["subresources"] for v in shown["spec"]["versions"]]) == (201, [{"status": {}}, {}])
    seen = []
    alike = subresources({"status": {}}, {"status": {}})
    for versions in (alike, alike, subresources({}, {}), subresources(None, None)):
        _, shown = await call(api, "PATCH", f"{CRDS}/things.e.com", {"spec": {"versions": versions}}, **merge)
        seen.append(shown["metadata"]["generation"])
    assert seen == [2, 2, 3, 4]


async def test_entries_of_a_version_that_is_gone_fail_an_apply(api: aiohttp.ClientSession) -> None:
    """Other writes drop all entries (`crConverter.ConvertToVersion`, `FieldManager.UpdateNoErrors`)."""
    merge = {"Content-Type": "application/merge-patch+json"}
    kept, old = version("v1", storage=True, schema=schema(a=TEXT, b=TEXT)), version("v0", schema=schema(a=TEXT, b=TEXT))
    assert (await call(api, "POST", CRDS, definition(kept, old)))[0] == 201
    first = f"{THINGS.replace('v1', 'v0')}/x?fieldManager=m"
    assert (await call(api, "PATCH", first, thing("x", "e.com/v0", a="a"), **APPLY))[0] == 201

    async def definitions(*versions: dict[str, Any]) -> None:
        assert (await call(api, "PATCH", f"{CRDS}/things.e.com", {"spec": {"versions": versions}}, **merge))[0] == 200

    await definitions(kept, {**old, "served": False})
    status, shown = await call(api, "PATCH", f"{THINGS}/x?fieldManager=n", thing("x", b="b"), **APPLY)
    entries = [(e["manager"], e["apiVersion"]) for e in shown["metadata"]["managedFields"]]
    assert (status, entries) == (200, [("m", "e.com/v0"), ("n", "e.com/v1")])
    await definitions(kept)
    for manager in ("m", "n"):
        path = f"{THINGS}/x?fieldManager={manager}&force=true"
        status, refused = await call(api, "PATCH", path, thing("x", a="c"), **APPLY)
        why = "request to convert CR to an invalid group/version: e.com/v0"
        assert (status, refused["message"]) == (500, why)
    status, shown = await call(api, "PATCH", f"{THINGS}/x", {}, **merge)
    assert (status, shown["metadata"].get("managedFields")) == (200, None)
    assert (await call(api, "PATCH", f"{THINGS}/x?fieldManager=n", thing("x", a="a", b="b"), **APPLY))[0] == 200
