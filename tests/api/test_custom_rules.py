"""Rules of custom resources and their messages, as kube-apiserver answered (CRD-17 to CRD-23)."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp

from tests.api.custom import CRDS, THINGS, Object, call, definition, thing, version

DRY = f"{CRDS}?dryRun=All"


def ruled(of: Object, rule: str, **more: Any) -> Object:
    """Return a schema with one rule."""
    return {**of, "x-kubernetes-validations": [{"rule": rule, **more}]}


def of(**properties: Any) -> Object:
    """Return a definition whose objects have these members."""
    schema = {"type": "object", "properties": properties}
    return definition(version("v1", storage=True, schema=schema))


async def causes(api: aiohttp.ClientSession, path: str, body: Object) -> list[str]:
    """Return the messages against an object."""
    status, refused = await call(api, "POST", path, body)
    assert status == 422, refused
    return [c["message"] for c in refused["details"]["causes"]]


async def test_types_are_named_after_the_node_of_the_rule(api: aiohttp.ClientSession) -> None:
    """`prepareEnvSet` names the types of each node anew."""
    value = ruled(
        {"type": "object", "properties": {"n": {"type": "integer"}}}, "true", messageExpression="string(self)"
    )
    (reported,) = await causes(api, DRY, of(a={"type": "object", "maxProperties": 5, "additionalProperties": value}))
    assert "overload for 'string' applied to '(selfType)'" in reported


async def test_a_default_is_told_why_a_rule_does_not_compile(api: aiohttp.ClientSession) -> None:
    open_map = {"type": "object", "additionalProperties": True, "default": {"k": 1}}
    reported = await causes(api, DRY, of(a=ruled(open_map, "self.all(k, k != 'a')")))
    why = "expression of type 'selfType' cannot be range of a comprehension (must be list, map, or dynamic)"
    assert reported[0].startswith(
        'Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:1: '
    )
    assert why in reported[0]


async def test_a_default_is_not_spared_for_being_its_own_past(api: aiohttp.ClientSession) -> None:
    inner = {"type": "object", "properties": {"n": ruled({"type": "integer"}, "self > 10", message="too few")}}
    reported = await causes(api, DRY, of(a={**ruled(inner, "self.n == oldSelf.n"), "default": {"n": 1}}))
    assert reported == ["Invalid value: 1: too few"]


async def test_a_set_of_numbers_does_not_find_its_integers(api: aiohttp.ClientSession) -> None:
    """`unstructuredSetList.Equal` looks for floats among what JSON had as integers."""
    numbers = {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "set", "items": {"type": "number"}}
    schema = ruled({"type": "object", "properties": {"l": numbers}}, "self.l == self.l")
    assert (await call(api, "POST", CRDS, of(a=schema)))[0] == 201
    assert (await call(api, "POST", THINGS, thing("a", a={"l": [1.5, 2.5]})))[0] == 201
    assert await causes(api, THINGS, thing("b", a={"l": [1.5, 2]})) == ["Invalid value: failed rule: self.l == self.l"]


async def test_keys_of_one_value_but_two_kinds_of_number_differ(api: aiohttp.ClientSession) -> None:
    item = {"type": "object", "required": ["k"], "properties": {"k": {"type": "number"}}}
    keyed = {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    assert (await call(api, "POST", CRDS, of(a=keyed)))[0] == 201
    text = '{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a"},"a":[{"k":3.0},{"k":3}]}'
    async with api.post(THINGS, data=text) as answer:
        assert answer.status == 201
    assert await causes(api, THINGS, thing("b", a=[{"k": 3}, {"k": 3}])) == ['Duplicate value: {"k":3}']


async def test_a_patch_that_makes_no_resource_shows_what_it_makes(api: aiohttp.ClientSession) -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    assert (await call(api, "POST", CRDS, of(a=embedded, b={"type": "string"})))[0] == 201
    assert (await call(api, "POST", THINGS, thing("a", a={"apiVersion": "v1", "kind": "K"}, b="x")))[0] == 201
    media = {"Content-Type": "application/merge-patch+json"}
    status, refused = await call(api, "PATCH", f"{THINGS}/a", {"a": {"kind": 1}}, **media)
    head = ' "" is invalid: patch: Invalid value: "{\\"a\\":{\\"apiVersion\\":\\"v1\\",\\"kind\\":1},\\"apiVersion\\":'
    assert (status, refused["message"][: len(head)]) == (422, head)
    assert refused["message"].endswith('": a.kind: Invalid value: 1: must be a string')


async def test_the_root_is_a_resource_to_its_default(api: aiohttp.ClientSession) -> None:
    made = definition(version("v1", storage=True, schema={"type": "object", "default": {}}))
    assert await causes(api, DRY, made) == ["Required value", "Required value"]


async def test_numbers_are_shown_as_go_prints_them(api: aiohttp.ClientSession) -> None:
    assert (await call(api, "POST", CRDS, of(a={"type": "number", "enum": [1, 2]})))[0] == 201
    assert await causes(api, THINGS, thing("b", a=1e20)) == ['Unsupported value: 1e+20: supported values: "1", "2"']


async def test_a_list_with_a_zero_is_not_the_one_without(api: aiohttp.ClientSession) -> None:
    """`CorrelatedObject.CachedDeepEqual` is `reflect.DeepEqual` for lists without keys: the rule is asked again."""
    items = {"type": "object", "properties": {"a": {"type": "integer"}}}
    rule = ruled({"type": "array", "maxItems": 5, "items": items}, "self.all(i, !has(i.a))", message="no a")
    assert (await call(api, "POST", CRDS, of(l=rule)))[0] == 201
    assert (await call(api, "POST", THINGS, thing("a", l=[{}])))[0] == 201
    merge = {"Content-Type": "application/merge-patch+json"}
    status, refused = await call(api, "PATCH", f"{THINGS}/a", {"l": [{"a": 0}]}, **merge)
    assert (status, [c["message"] for c in refused["details"]["causes"]]) == (422, ["Invalid value: no a"])


LONG = "self.all(a, self.all(b, a + b != 'x'))"
"""About 10 ms for 300 items: rules of one object may cost twenty times as much."""


async def test_long_rules_leave_the_loop_to_others(api: aiohttp.ClientSession) -> None:
    """The guard of turns measures it: on the loop, each of these writes would hold it for 100 ms."""
    items = {"type": "array", "maxItems": 300, "items": {"type": "string", "maxLength": 5}}
    rules = [{"rule": f"{LONG} || {n} == 0", "message": f"rule {n}"} for n in range(10)]
    schema = {**items, "x-kubernetes-validations": [*rules, {"rule": "!self.exists(a, a == 'bad')"}]}
    assert (await call(api, "POST", CRDS, of(a=schema, n={"type": "integer"})))[0] == 201
    many = [f"{n:04}" for n in range(299)]
    assert (await call(api, "POST", THINGS, thing("a", a=many)))[0] == 201
    assert await causes(api, THINGS, thing("b", a=[*many, "bad"])) == [
        "Invalid value: failed rule: !self.exists(a, a == 'bad')"
    ]
    merge = {"Content-Type": "application/merge-patch+json"}

    async def patched(body: Object) -> int:
        async with api.patch(f"{THINGS}/a", json=body, headers=merge) as answer:
            return answer.status

    # Each is checked apart while others are written, and all are made.
    labels = [{"metadata": {"labels": {f"l{n}": "x"}}} for n in range(6)]
    assert await asyncio.gather(*map(patched, labels)) == [200] * 6
    found = (await call(api, "GET", f"{THINGS}/a", None))[1]
    assert len(found["metadata"]["labels"]) == 6
    stale = {**found, "metadata": {**found["metadata"], "resourceVersion": "1"}}
    assert (await call(api, "PUT", f"{THINGS}/a", stale))[0] == 409
    assert await patched({"a": [*many, "bad"]}) == 422


async def test_strictness_ends_at_types_that_decode_themselves(api: aiohttp.ClientSession) -> None:
    """`JSONSchemaPropsOrArray` and its like have their own `UnmarshalJSON`, which ignores unknown fields."""
    items = {"type": "object", "unknown": 1, "additionalProperties": {"type": "string", "unknown": 1}}
    body = of(l={"type": "array", "items": items, "default": [{"a": "b"}]})
    status, answer = await call(api, "POST", f"{DRY}&fieldValidation=Strict", body)
    assert status == 201, answer
    body = of(l={"type": "array", "items": {"type": "string"}, "unknown": 1})
    status, answer = await call(api, "POST", f"{DRY}&fieldValidation=Strict", body)
    assert (status, answer["message"].endswith('openAPIV3Schema.properties.l.unknown"')) == (400, True)


async def test_an_error_in_such_a_type_is_that_of_the_body(api: aiohttp.ClientSession) -> None:
    """Go ends at it, whatever mismatch came before, and names the struct that has the field."""
    items = {"type": "object", "x-kubernetes-validations": [{"rule": 1}]}
    status, answer = await call(api, "POST", DRY, of(a={"type": 1}, l={"type": "array", "items": items}))
    field = "spec.versions.schema.openAPIV3Schema.properties.items.x-kubernetes-validations.rule"
    assert (status, answer["message"]) == (
        400,
        'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: json: '
        f"cannot unmarshal number into Go struct field JSONSchemaProps.{field} of type string",
    )
    status, answer = await call(api, "POST", DRY, of(a={"enum": 0, "additionalProperties": "x"}))
    assert (status, answer["message"].rpartition(": ")[2]) == (400, "boolean or JSON schema expected")


async def test_a_junctor_may_repeat_that_nothing_else_is_allowed(api: aiohttp.ClientSession) -> None:
    """`newNestedValueValidation` sees `additionalProperties` only if it is true or a schema."""
    for given, code in ((False, 201), (True, 422), ({"type": "string"}, 422)):
        body = of(a={"type": "string", "allOf": [{"additionalProperties": given}]})
        status, answer = await call(api, "POST", DRY, body)
        assert status == code, answer
