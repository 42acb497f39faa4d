"""A second apply of the same object changes nothing, whatever form its values have (SSA-01)."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.api.custom import CRDS, THINGS, Object, call, definition, version

APPLY = {"Content-Type": "application/apply-patch+yaml"}
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/w"
RULE = {"apiGroups": ["z"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["z"]}
HOOK: Object = {"name": "a.b.c", "clientConfig": {"url": "https://x.y", "caBundle": ""}, "sideEffects": "None"}
NUMBER = {"type": "number"}
FIELDS: dict[str, Any] = {
    "size": NUMBER,
    "set": {"type": "array", "items": NUMBER, "x-kubernetes-list-type": "set"},
    "bare": {"type": "object"},
    "a": {"type": "string"},
    "nothing": {"type": "object", "nullable": True, "properties": {"a": {"type": "string", "nullable": True}}},
    "items": {"type": "array", "items": {"type": "object", "nullable": True, "properties": {"a": {"type": "string"}}}},
    "replicas": {"type": "integer"},
}
SCALE = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


async def things(api: aiohttp.ClientSession) -> None:
    """Define a kind with numbers, and with an object that declares no members."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": FIELDS}}}
    made = version("v1", storage=True, schema=schema, subresources={"scale": SCALE})
    assert (await call(api, "POST", CRDS, definition(made)))[0] == 201


async def applied(api: aiohttp.ClientSession, path: str, manager: str, text: str) -> tuple[int, Any]:
    """Apply a text."""
    async with api.patch(f"{path}?fieldManager={manager}", data=text, headers=APPLY) as r:
        return r.status, await r.json()


@pytest.mark.parametrize(
    "texts", [("size: 3", "size: 3.0", "size: 3e0"), ("set: [1, 2]", "set: [1.0, 2]", "set: [1e0, 2.0]")]
)
async def test_forms_of_a_number_are_one_value(api: aiohttp.ClientSession, texts: tuple[str, ...]) -> None:
    await things(api)
    revisions = set()
    for manager in ("one", "two"):
        for text in texts:
            whole = f"apiVersion: e.com/v1\nkind: Thing\nmetadata: {{name: x}}\nspec: {{{text}}}\n"
            status, found = await applied(api, f"{THINGS}/x", manager, whole)
            assert status in (200, 201), found
            revisions.add((manager, found["metadata"]["generation"], found["metadata"]["resourceVersion"]))
    assert {generation for _, generation, _ in revisions} == {1}
    assert len(revisions) == 2


@pytest.mark.parametrize("text", ["nothing: null", "nothing: {a: null}", "items: [null]", "items: [null, {a: x}]"])
async def test_null_over_null_is_no_change(api: aiohttp.ClientSession, text: str) -> None:
    await things(api)
    whole = f"apiVersion: e.com/v1\nkind: Thing\nmetadata: {{name: x}}\nspec: {{{text}}}\n"
    for manager in ("one", "two", "one"):
        status, found = await applied(api, f"{THINGS}/x", manager, whole)
        assert (status in (200, 201), found["metadata"].get("generation")) == (True, 1), found


async def test_replicas_below_null_are_absent(api: aiohttp.ClientSession) -> None:
    """`unstructured.NestedInt64` ends at null."""
    await things(api)
    whole = "apiVersion: e.com/v1\nkind: Thing\nmetadata: {name: x}\nspec: null\n"
    status, refused = await applied(api, f"{THINGS}/x", "one", whole)
    text = 'Thing.e.com "x" is invalid: spec: Invalid value: "null": spec in body must be of type object: "null"'
    assert (status, refused["message"]) == (422, text)


async def test_conflicts_follow_the_identity_of_their_owners(api: aiohttp.ClientSession) -> None:
    """An entry with a subresource precedes the same without (`managedfields.go`, `BuildManagerIdentifier`)."""
    path = "/apis/apps/v1/namespaces/default/deployments/d"
    template = "{metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}"
    spec = f"{{replicas: 3, selector: {{matchLabels: {{a: b}}}}, template: {template}}}"
    await applied(api, path, "one", f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {spec}\n")
    scale = "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: d}\nspec: {replicas: %d}\n"
    assert (await applied(api, f"{path}/scale", "one", scale % 3))[0] == 200
    status, refused = await applied(api, f"{path}/scale", "two", scale % 4)
    who = [cause["message"] for cause in refused["details"]["causes"]]
    assert (status, who) == (409, ['conflict with "one" with subresource "scale"', 'conflict with "one"'])


async def test_an_object_without_declared_members_is_pruned(api: aiohttp.ClientSession) -> None:
    """Upstream compares the configuration with the pruned object: each apply counts a generation."""
    await things(api)
    whole = "apiVersion: e.com/v1\nkind: Thing\nmetadata: {name: x}\nspec: {bare: {x: 1}}\n"
    for generation in (1, 2):
        _, found = await applied(api, f"{THINGS}/x", "one", whole)
        assert (found["spec"], found["metadata"]["generation"]) == ({"bare": {}}, generation)
    status, refused = await applied(api, f"{THINGS}/x", "two", whole)
    assert (status, refused["message"]) == (409, 'Apply failed with 1 conflict: conflict with "one": .spec.bare.x')


async def test_empty_lists_of_a_network_policy_are_a_change(api: aiohttp.ClientSession) -> None:
    """Its strategy compares by `reflect.DeepEqual`, and the store has no empty lists."""
    path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies/policy"
    whole = (
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: policy}\nspec: {podSelector: {}%s}\n"
    )
    for manager, more, generations in (("one", "", (1, 1)), ("one", ", ingress: [{from: []}]", (2, 3))):
        found = [(await applied(api, path, manager, whole % more))[1]["metadata"]["generation"] for _ in generations]
        assert tuple(found) == generations


async def test_empty_bytes_are_no_change(api: aiohttp.ClientSession) -> None:
    hook = {**HOOK, "admissionReviewVersions": ["v1"], "rules": [RULE], "failurePolicy": "Ignore"}
    made: Object = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    made |= {"metadata": {"name": "w"}, "webhooks": [hook]}
    shown = []
    for _ in range(2):
        _, found = await call(api, "PATCH", f"{HOOKS}?fieldManager=one", made, **APPLY)
        shown.append((found["metadata"]["generation"], found["metadata"]["resourceVersion"]))
    assert shown[0] == shown[1]
    assert "caBundle" not in found["webhooks"][0]["clientConfig"]


async def test_defaults_of_another_version_are_no_change(api: aiohttp.ClientSession) -> None:
    """An apply that changes no value gives no defaults (`structuredMergeManager.Apply`; kueue's AdmissionCheck)."""
    text = {"type": "object", "properties": {"a": {"type": "string"}}}
    more = {"type": "object", "properties": {"a": {"type": "string"}, "delay": {"type": "integer", "default": 15}}}
    former = version("v1", schema={"type": "object", "properties": {"spec": more}})
    present = version("v2", storage=True, schema={"type": "object", "properties": {"spec": text}})
    assert (await call(api, "POST", CRDS, definition(former, present)))[0] == 201
    body = "kind: Thing\nmetadata: {name: x}\nspec: {a: b}\n"
    place = f"{THINGS}/x".replace("/v1/", "/v2/")
    assert (await applied(api, place, "one", f"apiVersion: e.com/v2\n{body}"))[0] == 201
    status, found = await applied(api, f"{THINGS}/x", "two", f"apiVersion: e.com/v1\n{body}")
    assert (status, found["metadata"]["generation"], found["spec"]) == (200, 1, {"a": "b"})
    assert {entry["manager"] for entry in found["metadata"]["managedFields"]} == {"one", "two"}
    _, found = await applied(api, f"{THINGS}/x", "two", f"apiVersion: e.com/v1\n{body.replace('b}', 'c}')}")
    assert found["reason"] == "Conflict"
