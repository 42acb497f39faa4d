"""Validating and mutating admission policies."""

from __future__ import annotations

import aiohttp

from tests.api.calls import get, post
from tests.api.hooks import CREATES, GROUP, MAPS, made
from tests.api.policies import bound, mutating, validating

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def test_a_validation_refuses_with_its_message(api: aiohttp.ClientSession) -> None:
    await validating(api, {"expression": "'a' in object.data", "message": "no a", "reason": "Forbidden"})
    refused = await post(api, MAPS, made("x", data={"b": "c"}), 403)
    assert refused["message"].endswith("ValidatingAdmissionPolicy 'v' with binding 'v' denied request: no a")
    await post(api, MAPS, made("x", data={"a": "c"}))


async def test_a_policy_without_a_binding_decides_nothing(api: aiohttp.ClientSession) -> None:
    spec = {"matchConstraints": {"resourceRules": CREATES}, "validations": [{"expression": "false"}]}
    await post(api, f"{GROUP}/validatingadmissionpolicies", {"metadata": {"name": "v"}, "spec": spec})
    await post(api, MAPS, made("x"))


async def test_a_changed_policy_counts_at_once(api: aiohttp.ClientSession) -> None:
    await validating(api, {"expression": "false"})
    await post(api, MAPS, made("x"), 422)
    async with api.delete(f"{GROUP}/validatingadmissionpolicies/v") as answer:
        assert answer.status == 200
    await post(api, MAPS, made("x"))


async def test_zero_values_are_seen_as_the_api_shows_them(api: aiohttp.ClientSession) -> None:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}]
    expression = "has(object.spec.containers[0].resources) && object.spec.containers[0].resources == {}"
    await validating(api, {"expression": expression}, matchConstraints={"resourceRules": rules})
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await post(api, "/api/v1/namespaces/default/pods", pod)


async def test_parameters_are_read_as_they_are_now(api: aiohttp.ClientSession) -> None:
    reference = {"name": "limit", "parameterNotFoundAction": "Deny"}
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    conditions = [{"name": "others", "expression": "object.metadata.name != 'limit'"}]
    validation = {"expression": "size(object.data) <= int(params.data.most)"}
    await post(api, MAPS, made("limit", data={"most": "1"}))
    spec = {"validations": [validation], "paramKind": kind, "matchConditions": conditions}
    await bound(api, "validating", "v", spec, paramRef=reference)
    await post(api, MAPS, made("x", data={"a": "", "b": ""}), 422)
    async with api.put(f"{MAPS}/limit", json=made("limit", data={"most": "2"})) as answer:
        assert answer.status == 200, await answer.text()
    await post(api, MAPS, made("x", data={"a": "", "b": ""}))


async def test_warnings_and_annotations_do_not_refuse(api: aiohttp.ClientSession) -> None:
    spec = {"validations": [{"expression": "false", "message": "mind this"}]}
    await bound(api, "validating", "v", spec, validationActions=["Warn", "Audit"])
    async with api.post(MAPS, json=made("x")) as answer:
        assert answer.status == 201
        assert "mind this" in answer.headers["Warning"]


async def test_a_variable_is_evaluated_once(api: aiohttp.ClientSession) -> None:
    """By its cost: twenty uses of a variable that takes a large part of the budget of an expression."""
    costly = "object.data.text.split('').map(c, object.data.text.contains(c)).size()"
    uses = [{"expression": "variables.costly >= 0"} for _ in range(20)]
    await validating(api, *uses, variables=[{"name": "costly", "expression": costly}])
    await post(api, MAPS, made("x", data={"text": "abcdefghij" * 100}))


async def test_a_configuration_is_merged(api: aiohttp.ClientSession) -> None:
    await mutating(api, "Object{metadata: Object.metadata{labels: {'by': 'policy'}}}")
    created = await post(api, MAPS, made("x", metadata={"labels": {"own": "1"}}))
    assert created["metadata"]["labels"] == {"by": "policy", "own": "1"}
    managers = [entry["fieldsV1"] for entry in created["metadata"]["managedFields"]]
    assert "f:by" not in str(managers)


async def test_a_patch_is_applied(api: aiohttp.ClientSession) -> None:
    await mutating(api, "[JSONPatch{op: 'add', path: '/data', value: {'a/b': string(1)}}]", "JSONPatch")
    refused = await post(api, MAPS, made("x"), 422)
    assert refused["details"]["causes"][0]["field"] == "data[a/b]"


async def test_a_mutation_precedes_validation(api: aiohttp.ClientSession) -> None:
    await mutating(api, "Object{data: {'added': 'yes'}}")
    await validating(api, {"expression": "object.data.added == 'yes'"})
    assert (await post(api, MAPS, made("x")))["data"] == {"added": "yes"}


async def test_custom_resources_are_mutated_in_every_version(api: aiohttp.ClientSession) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": f"v{n}", "served": True, "storage": n == 1, "schema": schema} for n in (1, 2)]
    names = {"plural": "things", "kind": "Thing"}
    spec = {"group": "e.com", "scope": "Namespaced", "names": names, "versions": versions}
    await post(api, CRDS, {"metadata": {"name": "things.e.com"}, "spec": spec})
    rules = [{"apiGroups": ["e.com"], "apiVersions": ["v1"], "resources": ["things"], "operations": ["CREATE"]}]
    await mutating(
        api,
        "Object{metadata: Object.metadata{labels: {'v': request.kind.version}}}",
        matchConstraints={"resourceRules": rules},
    )
    for version in ("v1", "v2"):
        thing = {"apiVersion": f"e.com/{version}", "kind": "Thing", "metadata": {"name": version}}
        created = await post(api, f"/apis/e.com/{version}/namespaces/default/things", thing)
        assert (created["apiVersion"], created["metadata"]["labels"]) == (f"e.com/{version}", {"v": "v1"})


async def test_checks_are_counted(api: aiohttp.ClientSession) -> None:
    await validating(api, {"expression": "false"})
    await post(api, MAPS, made("x"), 422)
    async with api.get("/metrics") as answer:
        text = await answer.text()
    labels = 'enforcement_action="deny",error_type="no_error",policy="v",policy_binding="v"'
    assert f"apiserver_validating_admission_policy_check_total{{{labels}}} 1\n" in text
    assert (await get(api, MAPS))["items"] == []


async def test_a_value_that_is_no_optional_is_its_own_alternative(api: aiohttp.ClientSession) -> None:
    """As cel-go has it: a policy of Kyverno's library (`ensure-readonly-hostpath`) relies on it."""
    await validating(api, {"expression": "object.data.orValue({}).all(k, k == 'a')"})
    await post(api, MAPS, made("x", data={"a": "b"}))
    await post(api, MAPS, made("y", data={"b": "b"}), 422)


async def test_nothing_has_no_members(api: aiohttp.ClientSession) -> None:
    """The object of a deletion is null: `has` of a member is false, and no error."""
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}]
    rule = "!has(object.data) || !has(object.data.foo) || object.data.foo != 'invalid'"
    await validating(api, {"expression": rule}, matchConstraints={"resourceRules": rules})
    await post(api, MAPS, made("x", data={"foo": "invalid"}), 422)
    await post(api, MAPS, made("x", data={"foo": "valid"}))
    async with api.delete(f"{MAPS}/x") as answer:
        assert answer.status == 200
