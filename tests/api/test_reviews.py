"""Reviews of access."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

AUTHORIZATION = "/apis/authorization.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


async def rules(api: aiohttp.ClientSession, namespace: str) -> dict[str, Any]:
    async with api.post(f"{AUTHORIZATION}/selfsubjectrulesreviews", json={"spec": {"namespace": namespace}}) as r:
        assert r.status == 201
        status: dict[str, Any] = (await r.json())["status"]
        return status


async def test_rules_are_those_of_the_bound_roles(api: aiohttp.ClientSession) -> None:
    """URI-16: all of an administrator, the rules of everyone, and those that a binding in the namespace adds."""
    everywhere = await rules(api, "default")
    assert everywhere["resourceRules"][0] == {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    assert everywhere["nonResourceRules"][0] == {"verbs": ["*"], "nonResourceURLs": ["*"]}
    own = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}
    role = {"metadata": {"name": "r"}, "rules": [own]}
    binding = {
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "admin"}],
    }
    for plural, body in (("roles", role), ("rolebindings", binding)):
        async with api.post(f"{RBAC}/namespaces/default/{plural}", json=body) as r:
            assert r.status == 201, await r.text()
    assert own in (await rules(api, "default"))["resourceRules"]
    assert await rules(api, "kube-system") == everywhere | {"resourceRules": everywhere["resourceRules"]}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"fieldSelector": {"requirements": [{"key": "a", "operator": "In", "values": ["x"]}]}}, None),
        ({"fieldSelector": {"requirements": [{"key": "a", "operator": "Exists"}]}}, "fieldSelector ignored"),
        (
            {
                "fieldSelector": {
                    "requirements": [
                        {"key": "a", "operator": "In", "values": ["x", "y"]},
                        {"key": "b", "operator": "NotIn", "values": ["x"]},
                    ]
                }
            },
            "fieldSelector partially ignored",
        ),
        ({"labelSelector": {"rawSelector": "a in (b"}}, "labelSelector ignored"),
        ({"labelSelector": {"rawSelector": "a=b"}, "fieldSelector": {"rawSelector": "a=b,c!=d"}}, None),
    ],
)
async def test_selectors_that_cannot_be_read_are_told(
    api: aiohttp.ClientSession, attributes: dict[str, Any], expected: str | None
) -> None:
    spec = {"resourceAttributes": {"verb": "get", "resource": "pods", **attributes}}
    async with api.post(f"{AUTHORIZATION}/selfsubjectaccessreviews", json={"spec": spec}) as r:
        assert r.status == 201, await r.text()
        status = (await r.json())["status"]
    assert status["allowed"] is True
    reported = f"spec.resourceAttributes.{expected} due to parse error" if expected else None
    assert status.get("evaluationError") == reported


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "t"}}),
        ("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}),
        (f"{AUTHORIZATION}/subjectaccessreviews", {"spec": {"user": "u", "nonResourceAttributes": {"path": "/"}}}),
        (f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}),
        ("/api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {}}),
    ],
)
async def test_nothing_prints_a_review(api: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> None:
    """MT-08: upstream's storage of them has no printer, so that a Table is not produced."""
    async with api.post(path, json=body, headers={"Accept": TABLE}) as r:
        assert r.status == 406
        types = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
        assert (await r.json())["message"] == f"only the following media types are accepted: {types}"
    async with api.post(path, json=body, headers={"Accept": f"{TABLE},application/json"}) as r:
        assert r.status != 406
        assert (await r.json())["kind"] != "Table"
