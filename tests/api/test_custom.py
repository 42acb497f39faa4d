"""Custom resources over HTTP (CRD-01 to CRD-27)."""

from __future__ import annotations

import asyncio

import aiohttp
import orjson

from tests.api.custom import CRDS, THINGS, Object, call, definition, thing, until, version


async def test_a_definition_is_served_once_its_write_is_answered(api: aiohttp.ClientSession) -> None:
    created, shown = await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    assert (created, shown["status"]["storedVersions"]) == (201, ["v1"])
    assert (await call(api, "POST", THINGS, thing("a", any={"b": [1]})))[0] == 201
    _, found = await call(api, "GET", f"{CRDS}/things.e.com")
    conditions = {c["type"]: (c["status"], c["reason"]) for c in found["status"]["conditions"]}
    assert conditions == {"NamesAccepted": ("True", "NoConflicts"), "Established": ("True", "InitialNamesAccepted")}
    assert (await call(api, "GET", "/apis/e.com/v1"))[1]["resources"][0]["name"] == "things"
    _, listed = await call(api, "GET", THINGS)
    assert listed["metadata"]["continue"] == ""
    assert listed["items"][0]["any"] == {"b": [1]}


async def test_names_are_held_until_they_are_free(api: aiohttp.ClientSession) -> None:
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    rival = definition(version("v1", storage=True), plural="rivals")
    await call(api, "POST", CRDS, rival)
    path = "/apis/e.com/v1/namespaces/default/rivals"
    assert await call(api, "GET", path) == (404, "404 page not found\n")
    _, found = await call(api, "GET", f"{CRDS}/rivals.e.com")
    reasons = [(c["reason"], c["message"]) for c in found["status"]["conditions"]]
    assert reasons[0] == ("ListKindConflict", '"ThingList" is already in use')
    await call(api, "DELETE", f"{CRDS}/things.e.com")

    async def served() -> bool:
        return (await call(api, "GET", path))[0] == 200

    await until(served)


async def test_instances_go_before_their_definition(api: aiohttp.ClientSession) -> None:
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    held = thing("held")
    held["metadata"]["finalizers"] = ["a.b/c"]
    await call(api, "POST", THINGS, held)
    await call(api, "POST", THINGS, thing("free"))
    status, going = await call(api, "DELETE", f"{CRDS}/things.e.com")
    assert (status, going["metadata"]["finalizers"]) == (200, ["customresourcecleanup.apiextensions.k8s.io"])

    async def only_held() -> bool:
        _, listed = await call(api, "GET", THINGS)
        return [o["metadata"]["name"] for o in listed["items"]] == ["held"]

    await until(only_held)
    status, refused = await call(api, "POST", THINGS, thing("late"))
    assert (status, refused["reason"]) == (403, "Forbidden")
    release = {"metadata": {"finalizers": None}}
    await call(api, "PATCH", f"{THINGS}/held", release, **{"Content-Type": "application/merge-patch+json"})

    async def gone() -> bool:
        return (await call(api, "GET", f"{CRDS}/things.e.com"))[0] == 404

    await until(gone)
    assert (await call(api, "GET", THINGS))[0] == 404


async def test_a_new_schema_holds_for_what_is_stored(api: aiohttp.ClientSession) -> None:
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    await call(api, "POST", THINGS, thing("a", old=1, spec={"gone": True, "kept": "x"}))
    spec = {"type": "object", "properties": {"kept": {"type": "string"}, "new": {"type": "integer", "default": 7}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    patch = [{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema", "value": schema}]
    media = {"Content-Type": "application/json-patch+json"}
    assert (await call(api, "PATCH", f"{CRDS}/things.e.com", patch, **media))[0] == 200
    _, before = await call(api, "GET", f"{THINGS}/a")
    assert "old" not in before
    assert before["spec"] == {"kept": "x", "new": 7}
    _, listed = await call(api, "GET", THINGS)
    assert listed["items"][0]["spec"] == before["spec"]
    assert listed["items"][0]["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


async def test_a_watch_ends_when_its_definition_changes(api: aiohttp.ClientSession) -> None:
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    async with api.get(f"{THINGS}?watch=1") as stream:
        await call(api, "POST", THINGS, thing("a"))
        assert orjson.loads(await stream.content.readline())["type"] == "ADDED"
        two = definition(version("v1", storage=True), version("v2"))
        _, old = await call(api, "GET", f"{CRDS}/things.e.com")
        two["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
        assert (await call(api, "PUT", f"{CRDS}/things.e.com", two))[0] == 200
        async with asyncio.timeout(30):
            assert await stream.content.readline() == b""
    assert (await call(api, "GET", THINGS.replace("v1", "v2") + "/a"))[1]["apiVersion"] == "e.com/v2"


async def test_selectable_fields_of_what_was_there_before(api: aiohttp.ClientSession) -> None:
    schema = {"type": "object", "properties": {"color": {"type": "string"}, "size": {"type": "integer"}}}
    first = version("v1", storage=True, schema=schema, selectableFields=[{"jsonPath": ".color"}])
    await call(api, "POST", CRDS, definition(first))
    for name, color, size in (("a", "red", 1), ("b", "blue", 2)):
        await call(api, "POST", THINGS, thing(name, color=color, size=size))

    async def named(selector: str) -> list[str]:
        _, listed = await call(api, "GET", f"{THINGS}?fieldSelector={selector}")
        return [o["metadata"]["name"] for o in listed["items"]]

    assert await named("color%3Dred") == ["a"]
    patch = [{"op": "add", "path": "/spec/versions/0/selectableFields/-", "value": {"jsonPath": ".size"}}]
    media = {"Content-Type": "application/json-patch+json"}
    assert (await call(api, "PATCH", f"{CRDS}/things.e.com", patch, **media))[0] == 200
    assert await named("size%3D2") == ["b"]
    assert await named("color!%3Dred") == ["b"]


async def test_what_is_published_changes_with_its_definition_alone(api: aiohttp.ClientSession) -> None:
    schema = {"type": "object", "description": "A thing.", "properties": {"n": {"x-kubernetes-int-or-string": True}}}
    await call(api, "POST", CRDS, definition(version("v1", storage=True, schema=schema)))
    _, index = await call(api, "GET", "/openapi/v3")
    status, document = await call(api, "GET", index["paths"]["apis/e.com/v1"]["serverRelativeURL"])
    model = document["components"]["schemas"]["com.e.v1.Thing"]
    assert (status, model["description"]) == (200, "A thing.")
    assert model["properties"]["n"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    patched = document["paths"]["/apis/e.com/v1/namespaces/{namespace}/things/{name}"]["patch"]
    assert patched["operationId"] == "patchEComV1NamespacedThing"
    assert "fieldValidation" in [p["name"] for p in patched["parameters"]]
    await call(api, "POST", CRDS, definition(version("v1", storage=True), plural="others", kind="Other"))
    _, later = await call(api, "GET", "/openapi/v3")
    changed = [name for name, entry in later["paths"].items() if index["paths"].get(name) != entry]
    assert changed == ["apis/e.com/v1"]
    _, swagger = await call(api, "GET", "/openapi/v2")
    assert {"com.e.v1.Thing", "com.e.v1.OtherList"} <= swagger["definitions"].keys()
    assert "/apis/e.com/v1/others" in swagger["paths"]
    assert "/api/v1/pods" in swagger["paths"]


async def test_owners_of_custom_resources_are_collected(api: aiohttp.ClientSession) -> None:
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    _, owner = await call(api, "POST", THINGS, thing("owner"))
    reference = {"apiVersion": "e.com/v1", "kind": "Thing", "name": "owner", "uid": owner["metadata"]["uid"]}
    maps = "/api/v1/namespaces/default/configmaps"

    async def own(name: str, uid: str) -> None:
        metadata = {"name": name, "ownerReferences": [{**reference, "uid": uid}]}
        await call(api, "POST", maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})

    async def collected(name: str) -> bool:
        return (await call(api, "GET", f"{maps}/{name}"))[0] == 404

    await own("owned", owner["metadata"]["uid"])
    # The object checked later has no owner: once it is deleted, the other one has been checked and kept.
    await own("stray", "0")
    await until(lambda: collected("stray"))
    assert not await collected("owned")
    await call(api, "DELETE", f"{THINGS}/owner")
    await until(lambda: collected("owned"))


async def test_a_namespace_takes_its_custom_resources_along(api: aiohttp.ClientSession) -> None:
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    await call(api, "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    await call(api, "POST", "/apis/e.com/v1/namespaces/n/things", thing("a"))
    await call(api, "DELETE", "/api/v1/namespaces/n")

    async def gone() -> bool:
        return (await call(api, "GET", "/api/v1/namespaces/n"))[0] == 404

    await until(gone)
    assert (await call(api, "GET", "/apis/e.com/v1/things"))[1]["items"] == []


async def test_what_was_written_in_another_version_has_the_defaults_of_the_stored_one(
    api: aiohttp.ClientSession,
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}, "s": {"type": "string"}}}
    await call(api, "POST", CRDS, definition(version("v1", storage=True, schema=schema), version("v2")))
    await call(api, "POST", THINGS.replace("v1", "v2"), thing("a", "e.com/v2", s="x"))
    assert (await call(api, "GET", f"{THINGS}/a"))[1]["n"] == 1
    media = {"Content-Type": "application/merge-patch+json"}
    _, same = await call(api, "PATCH", f"{THINGS}/a", {"s": "x"}, **media)
    assert same["metadata"]["generation"] == 1


async def test_a_definition_whose_webhook_has_no_bundle_is_not_established(api: aiohttp.ClientSession) -> None:
    """`establishing_controller.go`: an invalid caBundle holds a definition back until it is mended."""
    client: Object = {"url": "https://127.0.0.1:1/", "caBundle": "Tm8gY2VydGlmaWNhdGU="}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    made = definition(version("v1", storage=True), conversion={"strategy": "Webhook", "webhook": webhook})
    assert (await call(api, "POST", CRDS, made))[0] == 201
    _, found = await call(api, "GET", f"{CRDS}/things.e.com")
    reported = next(c for c in found["status"]["conditions"] if c["type"] == "Established")
    assert (reported["status"], reported["reason"]) == ("False", "InvalidCABundle")
    bundle = found["spec"]["conversion"]["webhook"]["clientConfig"].pop("caBundle")
    _, found = await call(api, "PUT", f"{CRDS}/things.e.com", found)
    _, found = await call(api, "GET", f"{CRDS}/things.e.com")
    reported = next(c for c in found["status"]["conditions"] if c["type"] == "Established")
    assert (reported["status"], reported["reason"]) == ("True", "InitialNamesAccepted")
    # Once it is established it stays valid.
    found["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = bundle
    code, refused = await call(api, "PUT", f"{CRDS}/things.e.com", found)
    assert code == 422
    why = "unable to load root certificates: unable to parse bytes as PEM block"
    assert refused["details"]["causes"] == [
        {
            "reason": "FieldValueInvalid",
            "message": f'Invalid value: "{bundle}": {why}',
            "field": "spec.conversion.webhookClientConfig.caBundle",
        }
    ]


async def test_defaults_of_embedded_metadata_must_be_metadata(api: aiohttp.ClientSession) -> None:
    """`defaulting/validation.go`: they are checked within the resource that they would be part of."""

    def made(metadata: Object) -> Object:
        resource = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"metadata": metadata}}
        schema = {"type": "object", "properties": {"e": resource}}
        return definition(version("v1", storage=True, schema=schema))

    fine = made({"type": "object", "default": {"name": "a", "unknown": "b"}})
    assert (await call(api, "POST", f"{CRDS}?dryRun=All", fine))[0] == 201
    code, refused = await call(api, "POST", CRDS, made({"type": "object", "default": {"name": "a/b"}}))
    assert code == 422
    message = refused["details"]["causes"][0]["message"]
    assert 'must result in valid metadata: metadata.name: Invalid value: "a/b"' in message


async def test_what_is_wrong_with_a_custom_resource_is_told_as_upstream_does(api: aiohttp.ClientSession) -> None:
    """The kind in the object, values in the order of the schema; no strategic patch, of its scale neither."""
    properties = {"size": {"type": "string", "enum": ["S", "M", "L"]}, "n": {"type": "integer"}}
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    fields = [{"jsonPath": ".spec.size"}]
    v1 = version("v1", storage=True, schema=schema, subresources={"scale": scale}, selectableFields=fields)
    await call(api, "POST", CRDS, definition(v1))
    code, refused = await call(api, "POST", THINGS, thing("a", spec={"size": "X", "n": 1}))
    assert code == 422
    assert refused["details"]["causes"][0]["message"] == 'Unsupported value: "X": supported values: "S", "M", "L"'
    _, refused = await call(api, "POST", THINGS, {**thing("a"), "kind": "Other"})
    assert refused["message"] == 'Other.e.com "a" is invalid: kind: Invalid value: "Other": must be Thing'
    await call(api, "POST", THINGS, thing("a", spec={"size": "S", "n": 1}))
    strategic = {"Content-Type": "application/strategic-merge-patch+json"}
    assert (await call(api, "PATCH", f"{THINGS}/a/scale", {"spec": {"replicas": 2}}, **strategic))[0] == 415
    for path in ("/openapi/v2", "/openapi/v3/apis/e.com/v1"):
        _, document = await call(api, "GET", path)
        models = document.get("definitions") or document["components"]["schemas"]
        for name in ("com.e.v1.Thing", "com.e.v1.ThingList"):
            assert models[name]["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.size"}]


async def test_a_definition_that_others_hold_terminates_for_a_while(api: aiohttp.ClientSession) -> None:
    """`TestApplyCRDuringCRDFinalization` of apiextensions-apiserver: nothing new while it ends, all again after."""
    held = definition(version("v1", storage=True))
    held["metadata"]["finalizers"] = ["a.b/c"]
    await call(api, "POST", CRDS, held)
    await call(api, "DELETE", f"{CRDS}/things.e.com")

    async def terminating() -> str:
        _, found = await call(api, "GET", f"{CRDS}/things.e.com")
        return next(str(c["status"]) for c in found["status"]["conditions"] if c["type"] == "Terminating")

    assert await terminating() == "True"
    apply = {"Content-Type": "application/apply-patch+yaml"}
    status, refused = await call(api, "PATCH", f"{THINGS}/a?fieldManager=m&dryRun=All", thing("a"), **apply)
    assert status == 403
    assert "create not allowed while custom resource definition is terminating" in refused["message"]

    async def ended() -> bool:
        return await terminating() == "False"

    await until(ended)
    assert (await call(api, "POST", THINGS, thing("a")))[0] == 201
    await call(
        api,
        "PATCH",
        f"{CRDS}/things.e.com",
        {"metadata": {"finalizers": None}},
        **{"Content-Type": "application/merge-patch+json"},
    )


async def test_an_object_without_a_kind_is_not_recognized(api: aiohttp.ClientSession) -> None:
    """`transformDecodeError` of `handlers/rest.go`; the result of a patch is refused as it is."""
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    absent = "the object provided is unrecognized (must be of type Thing): Object 'Kind' is missing in "
    for sent, shown in (({"a": 1}, '\'{"a":1}\' ({"a":1})'), (None, "'null' (6e756c6c)")):
        async with api.post(THINGS, data=orjson.dumps(sent)) as r:
            assert (r.status, (await r.json())["message"]) == (400, absent + shown)
    assert (await call(api, "POST", THINGS, thing("kindless")))[0] == 201
    merge = {"Content-Type": "application/merge-patch+json"}
    status, refused = await call(api, "PATCH", f"{THINGS}/kindless", {"kind": None}, **merge)
    assert (status, refused["reason"]) == (422, "Invalid")
    assert refused["message"].startswith(' "" is invalid: patch: Invalid value: ')
    assert "Object 'Kind' is missing in " in refused["message"]
    for number, value in (("number", 1), ("bool", True)):
        status, refused = await call(api, "POST", THINGS, thing("a", api_version=value))  # type: ignore[arg-type]
        begin = f"json: cannot unmarshal {number} into Go struct field .apiVersion of type string"
        assert (status, begin in refused["message"]) == (400, True)


async def test_metadata_is_checked_again_in_an_update(api: aiohttp.ClientSession) -> None:
    """`validateCommonFields` and `ValidateUpdate` both look at it, so that its causes are repeated."""
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    assert (await call(api, "POST", THINGS, thing("twice")))[0] == 201
    merge = {"Content-Type": "application/merge-patch+json"}
    for change, field, times in (
        ({"uid": "z"}, "metadata.uid", 2),
        ({"annotations": {"a~b": "c"}}, "metadata.annotations", 3),
    ):
        status, refused = await call(api, "PATCH", f"{THINGS}/twice", {"metadata": change}, **merge)
        assert (status, [c["field"] for c in refused["details"]["causes"]]) == (422, [field] * times)


async def test_a_patch_to_another_type_is_a_cause(api: aiohttp.ClientSession) -> None:
    """`ValidateTypeMeta` of apiextensions refuses it, and the error names the type of the object."""
    await call(api, "POST", CRDS, definition(version("v1", storage=True)))
    assert (await call(api, "POST", THINGS, thing("typed")))[0] == 201
    merge = {"Content-Type": "application/merge-patch+json"}
    for change, message in (
        ({"apiVersion": "v1"}, 'Thing "typed" is invalid: apiVersion: Invalid value: "v1": must be e.com/v1'),
        ({"kind": "Other"}, 'Other.e.com "typed" is invalid: kind: Invalid value: "Other": must be Thing'),
    ):
        status, refused = await call(api, "PATCH", f"{THINGS}/typed", change, **merge)
        assert (status, refused["message"]) == (422, message)
