"""Type checking of policies (kube-controller-manager `pkg/controller/validatingadmissionpolicystatus`)."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.run import Server
from tests.api.calls import get, post
from tests.api.hooks import GROUP

Object = dict[str, Any]
POLICIES = f"{GROUP}/validatingadmissionpolicies"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def rule(group: str, *resources: str, version: str = "v1") -> Object:
    return {"apiGroups": [group], "apiVersions": [version], "resources": [*resources], "operations": ["*"]}


async def checked(
    api: aiohttp.ClientSession, server: Server, rules: list[Object], *validations: Object, **spec: Any
) -> Object:
    """Return the status of a policy once it has been checked."""
    constraints = {"resourceRules": rules}
    body = {"metadata": {"name": "p"}, "spec": {"matchConstraints": constraints, "validations": [*validations], **spec}}
    await post(api, POLICIES, body)
    return await status(api, 1)


async def status(api: aiohttp.ClientSession, generation: int) -> Object:
    """Return the status of the policy once it is that of a generation."""
    async with asyncio.timeout(10):
        while (await get(api, f"{POLICIES}/p")).get("status", {}).get("observedGeneration") != generation:
            await asyncio.sleep(0.01)
    found: Object = (await get(api, f"{POLICIES}/p"))["status"]
    return found


async def test_each_kind_of_a_rule_is_checked(api: aiohttp.ClientSession, server: Server) -> None:
    """The example of Kubernetes' documentation, with its text."""
    rules = [rule("apps", "replicasets", "deployments", "deployments/status", "*/scale")]
    shown = "undefined field 'replicas'\n | object.replicas > 1\n | ......^\n"
    found = await checked(api, server, rules, {"expression": "object.replicas > 1"})
    warning = "\n".join(f"apps/v1, Kind={kind}: ERROR: <input>:1:7: {shown}" for kind in ("Deployment", "ReplicaSet"))
    expected = [{"fieldRef": "spec.validations[0].expression", "warning": warning}]
    assert found == {"observedGeneration": 1, "typeChecking": {"expressionWarnings": expected}}


async def test_a_changed_policy_is_checked_again(api: aiohttp.ClientSession, server: Server) -> None:
    """The warnings of before are gone; the status has a manager of its own."""
    found = await checked(
        api,
        server,
        [rule("", "pods")],
        {"expression": "object.spec.nodeName == ''", "messageExpression": "'on ' + object.spec.node"},
    )
    (warning,) = found["typeChecking"]["expressionWarnings"]
    assert warning["fieldRef"] == "spec.validations[0].messageExpression"
    change = {"spec": {"validations": [{"expression": "object.spec.containers.all(c, c.image != '')"}]}}
    async with api.patch(f"{POLICIES}/p", json=change, headers={"Content-Type": "application/merge-patch+json"}) as r:
        assert r.status == 200
    assert await status(api, 2) == {"observedGeneration": 2, "typeChecking": {}}
    (own,) = [f for f in (await get(api, f"{POLICIES}/p"))["metadata"]["managedFields"] if f.get("subresource")]
    assert own["manager"] == "validatingadmissionpolicy-status"
    assert own["operation"] == "Apply"


async def test_a_rule_with_a_wildcard_names_no_kind(api: aiohttp.ClientSession, server: Server) -> None:
    found = await checked(
        api, server, [rule("*", "pods"), rule("apps", "*"), rule("apps", "gone")], {"expression": "object.absent == 1"}
    )
    assert found == {"observedGeneration": 1, "typeChecking": {}}


async def test_custom_resources_have_the_types_of_their_definitions(api: aiohttp.ClientSession, server: Server) -> None:
    schema = {"type": "object", "properties": {"size": {"type": "integer"}, "labels": {"type": "string"}}}
    names = {"plural": "boats", "singular": "boat", "kind": "Boat"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    await post(api, CRDS, {"metadata": {"name": "boats.example.com"}, "spec": spec})
    found = await checked(
        api,
        server,
        [rule("example.com", "boats")],
        {"expression": "object.size > 1 && params.size > variables.least && 'a' in object.metadata.labels"},
        {"expression": "object.sise > 1"},
        {"expression": "params.labels > 1"},
        paramKind={"apiVersion": "example.com/v1", "kind": "Boat"},
        variables=[{"name": "least", "expression": "params.size"}],
    )
    warnings = found["typeChecking"]["expressionWarnings"]
    assert [w["fieldRef"] for w in warnings] == [f"spec.validations[{i}].expression" for i in (1, 2)]
    assert warnings[0]["warning"].startswith("example.com/v1, Kind=Boat: ERROR: <input>:1:7: undefined field 'sise'")
    assert "found no matching overload for '_>_' applied to '(string, int)'" in warnings[1]["warning"]


async def test_parameters_of_an_unknown_kind_are_undeclared(api: aiohttp.ClientSession, server: Server) -> None:
    kind = {"apiVersion": "gone.example.com/v1", "kind": "Gone"}
    found = await checked(api, server, [rule("", "pods")], {"expression": "params.a == 1"}, paramKind=kind)
    (warning,) = found["typeChecking"]["expressionWarnings"]
    assert "undeclared reference to 'params' (in container '')" in warning["warning"]


async def test_warnings_that_are_too_large_are_not_stored(
    api: aiohttp.ClientSession, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """As upstream, whose server takes no request of 3 MiB: each issue repeats its line of the expression."""
    long = " && ".join(["object.a == 1"] * 150)
    validations = [{"expression": f"{long} && {number} == 1"} for number in range(10)]
    spec = {"matchConstraints": {"resourceRules": [rule("", "pods", "secrets")]}, "validations": validations}
    with caplog.at_level("WARNING"):
        await post(api, POLICIES, {"metadata": {"name": "p"}, "spec": spec})
        async with asyncio.timeout(10):
            while "too large" not in caplog.text:
                await asyncio.sleep(0.01)
    assert (await get(api, f"{POLICIES}/p")).get("status", {}) == {}
