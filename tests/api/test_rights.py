"""Ways around the rights of a user: each is refused beside the same request that is allowed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.options import Texts
from tests.api.rights import GROUP, RBAC, Guarded, bound, guarded, opened, rule

MAPS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"


def config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Guarded]:
    async with guarded(tmp_path) as made:
        await made.make(MAPS, config_map("one"))
        await made.make(MAPS, config_map("two"))
        await made.make(SECRETS, {"metadata": {"name": "deep"}, "data": {"k": "djE="}})
        yield made


async def status(server: Guarded, user: str, method: str, path: str, body: Any = None, **headers: str) -> int:
    return (await server.ask(user, method, path, body, headers))[0]


async def test_a_right_by_name_is_no_right_by_label_or_to_the_list(server: Guarded) -> None:
    """A list is allowed for `metadata.name=one` alone; labels and other fields never narrow it to a name."""
    named = rule("get list watch deletecollection", "configmaps", resourceNames=["one"])
    await server.allow("ada", "named", named, namespace="default")
    assert await status(server, "ada", "GET", f"{MAPS}?fieldSelector=metadata.name%3Done") == 200
    assert await status(server, "ada", "GET", f"{MAPS}/one") == 200
    for query in (
        "",
        "?labelSelector=kubernetes.io%2Fmetadata.name%3Done",
        "?fieldSelector=metadata.name%21%3Dtwo",
        "?fieldSelector=metadata.namespace%3Ddefault",
        "?fieldSelector=metadata.name%3Dtwo&fieldSelector=metadata.name%3Done",
        "?fieldselector=metadata.name%3Done",
        "?limit=1",
        "?watch=1&timeoutSeconds=1",
    ):
        assert await status(server, "ada", "GET", MAPS + query) == 403, query
    assert await status(server, "ada", "DELETE", f"{MAPS}?fieldSelector=metadata.name%3Done") == 403


async def test_what_a_selector_names_is_all_that_is_listed(server: Guarded) -> None:
    """The selector that the decision read is the one that the list obeys, whichever others follow it."""
    await server.allow("ada", "named", rule("list", "configmaps", resourceNames=["one"]), namespace="default")
    for more in ("&fieldSelector=metadata.name%3Dtwo", "&fieldSelector=", "&labelSelector="):
        code, found = await server.ask("ada", "GET", f"{MAPS}?fieldSelector=metadata.name%3Done{more}")
        assert (code, [item["metadata"]["name"] for item in found["items"]]) == (200, ["one"]), more


async def test_a_table_needs_the_right_to_its_objects(server: Guarded) -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    metadata = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    await server.allow("ada", "maps", rule("list", "configmaps"), namespace="default")
    for accept in (table, metadata):
        assert await status(server, "ada", "GET", MAPS, Accept=accept) == 200
        assert await status(server, "ada", "GET", SECRETS, Accept=accept) == 403


async def test_a_dry_run_needs_the_right(server: Guarded) -> None:
    await server.allow("ada", "maps", rule("create", "configmaps"), namespace="default")
    assert await status(server, "ada", "POST", f"{MAPS}?dryRun=All", config_map("new")) == 201
    assert await status(server, "ada", "POST", f"{SECRETS}?dryRun=All", {"metadata": {"name": "new"}}) == 403
    assert await status(server, "ada", "DELETE", f"{MAPS}/one?dryRun=All") == 403
    assert await status(server, "ada", "PUT", f"{MAPS}/one?dryRun=All", config_map("one")) == 403


async def test_apply_and_put_need_the_right_to_create_what_they_make(server: Guarded) -> None:
    """In-verb check: `patch` and `update` alone change what exists (apiserver `withAuthorization`)."""
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    applied = {"Content-Type": "application/apply-patch+yaml"}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    group = "coordination.k8s.io"
    await server.allow("ada", "changes", rule("patch update get", "leases", group), namespace="default")
    await server.allow("bob", "makes", rule("patch update create", "leases", group), namespace="default")
    for method, headers in (("PATCH", applied), ("PUT", {})):
        name = f"by-{method.lower()}"
        path, body = f"{leases}/{name}?fieldManager=m", {**lease, "metadata": {"name": name}}
        code, refused = await server.ask("ada", method, path, body, headers)
        assert code == 403
        assert refused["message"] == (
            f'leases.{group} "{name}" is forbidden: User "ada" cannot create resource "leases" in API group'
            f' "{group}" in the namespace "default"'
        )
        assert (await server.ask("bob", method, path, body, headers))[0] == 201
        # The object is there now; a PUT needs its version.
        assert (await server.ask("ada", method, path, body, headers))[0] == (200 if headers else 422)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/default/configmaps/../secrets/deep",
        "/api/v1/namespaces/default/configmaps/%2e%2e/secrets/deep",
        "/api/v1/namespaces/default/configmaps/..%2fsecrets%2fdeep",
        "/api/v1/namespaces/default/configmaps%2f..%2fsecrets/deep",
        "/api/v1/namespaces/default//secrets/deep",
        "//api/v1/namespaces/default/secrets/deep",
        "/api/v1/namespaces/default/secrets/deep/",
        "/api/v1/namespaces/default/secrets/deep//",
        "/api/v1/namespaces/default/secrets/deep?x",
        "/api//v1/namespaces/default/secrets/deep",
        "/api/v1/./namespaces/default/secrets/deep",
        "/api/v1/namespaces/default/%73ecrets/deep",
        "/api/v1/namespaces/default/secrets%2fdeep",
        "/api/v1/namespaces/default/Secrets/deep",
        "/API/v1/namespaces/default/secrets/deep",
        "/api/v1/namespaces/kube-system/../default/secrets/deep",
        "/metrics/../api/v1/namespaces/default/secrets/deep",
        "/healthz/../api/v1/namespaces/default/secrets/deep",
        "/apis/../api/v1/namespaces/default/secrets/deep",
        "/api/v1/watch/namespaces/default/secrets/deep?timeoutSeconds=1",
        "/api/v1/watch/../namespaces/default/secrets/deep",
        "/api/v1/proxy/namespaces/default/secrets/deep",
        "/api/v1/secrets/deep",
        "/api/v1/namespaces/default/configmaps/one/../../secrets/deep",
        "/api/v1/namespaces/default/configmaps;/secrets/deep",
    ],
)
async def test_no_form_of_a_path_reaches_what_is_not_allowed(server: Guarded, path: str) -> None:
    """The decision covers the path that is executed: with all rights but that to secrets none of these shows one."""
    everything = {"verbs": ["*"], "nonResourceURLs": ["*"]}
    await server.allow("ada", "most", rule("*", "configmaps watch proxy"), everything)
    code, found = await server.ask("ada", "GET", path)
    assert code in (400, 403, 404), found
    assert "djE=" not in json.dumps(found)
    code, found = await server.ask("admin", "GET", "/api/v1/namespaces/default/secrets/deep")
    assert (code, found["data"]) == (200, {"k": "djE="})


async def test_the_watch_prefix_is_a_watch(server: Guarded) -> None:
    """`get` and `list` do not allow it, whatever it names, and its method changes nothing."""
    await server.allow("ada", "reads", rule("get list", "configmaps"), namespace="default")
    await server.allow("bob", "watches", rule("watch", "configmaps"), namespace="default")
    for tail in ("configmaps", "configmaps/one"):
        path = f"/api/v1/watch/namespaces/default/{tail}?timeoutSeconds=1"
        code, refused = await server.ask("ada", "GET", path)
        assert (code, 'cannot watch resource "configmaps"' in refused["message"]) == (403, True)
        assert await status(server, "bob", "GET", path) == 200
        assert await status(server, "ada", "DELETE", path) == 403
        assert await status(server, "bob", "DELETE", path) == 405
    assert await status(server, "bob", "GET", f"{MAPS}?watch=1&timeoutSeconds=1") == 200
    assert await status(server, "ada", "GET", f"{MAPS}?watch=1&timeoutSeconds=1") == 403
    assert await status(server, "bob", "GET", f"{MAPS}?watch=0") == 403


@pytest.mark.parametrize(
    "name", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-Method", "_method"]
)
async def test_a_method_override_does_nothing(server: Guarded, name: str) -> None:
    await server.allow("ada", "reads", rule("get", "configmaps"), namespace="default")
    code, found = await server.ask("ada", "GET", f"{MAPS}/one", headers={name: "DELETE"})
    assert (code, found["kind"]) == (200, "ConfigMap")
    assert await status(server, "ada", "DELETE", f"{MAPS}/one", **{name: "GET"}) == 403
    assert await status(server, "ada", "POST", f"{MAPS}/one", **{name: "GET"}) == 403


@pytest.mark.parametrize("name", ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Uri", "X-Forwarded-Prefix"])
async def test_a_rewritten_path_does_nothing(server: Guarded, name: str) -> None:
    await server.allow("ada", "reads", rule("get", "configmaps"), namespace="default")
    code, found = await server.ask("ada", "GET", f"{MAPS}/one", headers={name: f"{SECRETS}/deep"})
    assert (code, found["kind"]) == (200, "ConfigMap")
    assert await status(server, "ada", "GET", f"{SECRETS}/deep", **{name: f"{MAPS}/one"}) == 403


async def test_subresources_and_connections_have_rights_of_their_own(server: Guarded) -> None:
    """RequestInfo: `pods` is not `pods/log`; a WebSocket is a GET, and needs `create` as well (1.35 and later)."""
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    pods = "/api/v1/namespaces/default/pods"
    await server.make(pods, pod)
    await server.allow("ada", "pods", rule("*", "pods"), rule("get", "pods/exec"), namespace="default")
    await server.allow("bob", "exec", rule("get create", "pods/exec pods/log"), namespace="default")
    assert await status(server, "ada", "GET", f"{pods}/p") == 200
    assert await status(server, "ada", "GET", f"{pods}/p/log") == 403
    assert await status(server, "bob", "GET", f"{pods}/p/log") == 204
    assert await status(server, "ada", "PUT", f"{pods}/p/status", pod) == 403
    assert await status(server, "ada", "POST", f"{pods}/p/exec?command=x") == 403
    code, refused = await server.ask("ada", "GET", f"{pods}/p/exec?command=x")
    assert (code, refused["message"]) == (403, 'pods "p" is forbidden: ')
    assert await status(server, "bob", "GET", f"{pods}/p/exec?command=x") == 400
    assert await status(server, "bob", "POST", f"{pods}/p/exec?command=x") == 400


async def test_unknown_methods_are_not_those_they_resemble(server: Guarded) -> None:
    await server.allow("ada", "all", rule("get list create update patch delete", "configmaps"), namespace="default")
    for method in ("OPTIONS", "TRACE"):
        assert await status(server, "ada", method, f"{MAPS}/one") == 403
        assert await status(server, "admin", method, f"{MAPS}/one") == 405
    assert await status(server, "ada", "HEAD", f"{MAPS}/one") == 405
    assert await status(server, "bob", "HEAD", f"{MAPS}/one") == 403
    # Not even the parser knows these.
    for method in ("BREW", "FLUSH", "M-ERGE"):
        assert await status(server, "ada", method, f"{MAPS}/one") == 403
        assert await status(server, "admin", method, f"{MAPS}/one") == 405
        assert await status(server, "bob", method, "/version") == 403


async def test_a_refusal_precedes_all_that_is_wrong_with_a_request(server: Guarded) -> None:
    """No answer shows a stranger which objects and kinds exist."""
    for path in (f"{MAPS}/one", f"{MAPS}/none", "/apis/none.example.com/v1/namespaces/default/things", "/made/up"):
        assert await status(server, "bob", "GET", path) == 403
    assert await status(server, "bob", "POST", MAPS, "{") == 403
    assert await status(server, "admin", "POST", MAPS, "{") == 400


async def test_rights_follow_their_binding_at_once(server: Guarded) -> None:
    """A write of the administrator is in the next decision; an open watch keeps the rights of its start."""
    assert await status(server, "ada", "GET", MAPS) == 403
    await server.allow("ada", "maps", rule("list watch", "configmaps"), namespace="default")
    async with server.begun("ada", "GET", f"{MAPS}?watch=1&timeoutSeconds=1") as watch:
        assert watch.status == 200
        code, _ = await server.ask("admin", "DELETE", f"{RBAC}/namespaces/default/rolebindings/maps")
        assert code == 200
        assert await status(server, "ada", "GET", MAPS) == 403
        await server.make(MAPS, {"metadata": {"name": "later"}})
        assert b'"later"' in await watch.read()


async def test_a_role_is_granted_only_by_those_who_hold_it(server: Guarded) -> None:
    """`escalate` and `bind`; the same write by those who hold the rights, and by system:masters."""
    roles = f"{RBAC}/namespaces/default/roles"
    writes = rule("create update patch", "roles rolebindings", GROUP)
    holds = rule("get", "configmaps")
    await server.allow("ada", "writes", writes, holds, namespace="default")
    await server.allow("bob", "escalates", writes, rule("escalate bind", "roles", GROUP), namespace="default")
    more = {"metadata": {"name": "more"}, "rules": [rule("get list", "secrets")]}
    code, refused = await server.ask("ada", "POST", roles, more)
    assert code == 403
    assert refused["message"] == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "ada" (groups=["crew" "system:authenticated"])'
        " is attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}'
    )
    assert (await server.ask("ada", "POST", roles, {"metadata": {"name": "held"}, "rules": [holds]}))[0] == 201
    assert (await server.ask("bob", "POST", roles, more))[0] == 201
    patch = {"Content-Type": "application/merge-patch+json"}
    grown = {"rules": [rule("*", "*")]}
    assert (await server.ask("ada", "PATCH", f"{roles}/held", grown, patch))[0] == 403
    assert (await server.ask("ada", "PATCH", f"{roles}/held?dryRun=All", grown, patch))[0] == 403
    bindings = f"{RBAC}/namespaces/default/rolebindings"
    assert (await server.ask("ada", "POST", bindings, bound("b", "Role", "ada", "more")))[0] == 403
    assert (await server.ask("bob", "POST", bindings, bound("b", "Role", "ada", "more")))[0] == 201
    assert (await server.ask("ada", "POST", bindings, bound("c", "Role", "ada", "held")))[0] == 201
    assert (await server.ask("ada", "POST", bindings, bound("d", "ClusterRole", "ada", "cluster-admin")))[0] == 403


async def test_an_object_under_collection_may_lose_its_finalizers(server: Guarded) -> None:
    """`IsOnlyMutatingGCFields`: a user without the rights of a role may still remove its finalizers."""
    roles = f"{RBAC}/namespaces/default/roles"
    await server.allow("ada", "writes", rule("create update patch get", "roles", GROUP), namespace="default")
    meta = {"name": "strong", "finalizers": ["e.com/hold"]}
    await server.make(roles, {"metadata": meta, "rules": [rule("*", "secrets")]})
    patch = {"Content-Type": "application/merge-patch+json"}
    labelled = {"metadata": {"labels": {"a": "b"}}}
    assert (await server.ask("ada", "PATCH", f"{roles}/strong", labelled, patch))[0] == 403
    assert (await server.ask("ada", "PATCH", f"{roles}/strong", {"metadata": {"finalizers": None}}, patch))[0] == 200


async def test_a_policy_is_written_only_by_those_who_may_read_its_parameters(server: Guarded) -> None:
    """`validatingadmissionpolicy/authz.go` and that of bindings."""
    group = "admissionregistration.k8s.io"
    base = f"/apis/{group}/v1/validatingadmissionpolic"
    spec = {"paramKind": {"apiVersion": "v1", "kind": "Secret"}, "validations": [{"expression": "true"}]}
    match = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}]}
    policy = {"metadata": {"name": "p"}, "spec": {**spec, "matchConstraints": match}}
    reference = {"name": "x", "namespace": "default", "parameterNotFoundAction": "Deny"}
    bound_to = {"policyName": "p", "paramRef": reference, "validationActions": ["Deny"]}
    binding = {"metadata": {"name": "p"}, "spec": bound_to}
    writes = rule("create", "validatingadmissionpolicies validatingadmissionpolicybindings", group)
    await server.allow("ada", "policies", writes)
    await server.allow("bob", "more", writes, rule("get", "secrets"))
    code, refused = await server.ask("ada", "POST", f"{base}ies", policy)
    assert code == 422
    assert refused["details"]["causes"][0]["field"] == "spec.paramKind"
    assert 'must have "get" permission on all objects of the referenced paramKind' in refused["message"]
    assert (await server.ask("bob", "POST", f"{base}ies", policy))[0] == 201
    code, refused = await server.ask("ada", "POST", f"{base}ybindings", binding)
    assert (code, refused["details"]["causes"][0]["field"]) == (422, "spec.paramRef")
    assert (await server.ask("bob", "POST", f"{base}ybindings", binding))[0] == 201


async def test_parts_of_a_claim_s_status_have_rights_of_their_own(server: Guarded) -> None:
    """`resourceclaims/binding`: the allocation, `resourceclaims/driver`: devices (`registry/resource/utils.go`)."""
    group = "resource.k8s.io"
    claims = f"/apis/{group}/v1/namespaces/default/resourceclaims"
    request = {"name": "r", "exactly": {"deviceClassName": "c.example.com"}}
    await server.make(claims, {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}})
    status_right = rule("patch", "resourceclaims/status", group)
    await server.allow("ada", "claims", status_right, namespace="default")
    await server.allow("bob", "claims-too", status_right, rule("patch", "resourceclaims/binding", group))
    result = {"request": "r", "driver": "d.example.com", "pool": "p", "device": "x"}
    change = {"status": {"allocation": {"devices": {"results": [result]}}}}
    patch = {"Content-Type": "application/merge-patch+json"}
    code, refused = await server.ask("ada", "PATCH", f"{claims}/c/status", change, patch)
    assert code == 422
    assert 'resource="resourceclaims/binding", verb="patch" permission' in refused["message"]
    assert (await server.ask("bob", "PATCH", f"{claims}/c/status", change, patch))[0] == 200
    device = {"driver": "d.example.com", "pool": "p", "device": "x", "conditions": []}
    reported = {"status": {"devices": [device]}}
    code, refused = await server.ask("bob", "PATCH", f"{claims}/c/status", reported, patch)
    assert (code, "arbitrary-node:patch" in refused["message"]) == (422, True)
    await server.allow(
        "bob", "drives", rule("arbitrary-node:patch", "resourceclaims/driver", group), namespace="default"
    )
    assert (await server.ask("bob", "PATCH", f"{claims}/c/status", reported, patch))[0] == 200


async def test_an_open_server_allows_callers_everything_and_others_what_roles_allow() -> None:
    """Default mode on loopback without credentials: `--as` and reviews show what roles allow."""
    async with opened() as server:
        assert (await server.ask("", "GET", SECRETS))[0] == 200
        assert (await server.ask("", "GET", SECRETS, headers={"Impersonate-User": "ada"}))[0] == 403
        right = {"resourceAttributes": {"verb": "list", "resource": "secrets"}}
        for plural, spec in (("subjectaccessreviews", {"user": "ada", **right}), ("selfsubjectaccessreviews", right)):
            _, found = await server.ask("", "POST", f"/apis/authorization.k8s.io/v1/{plural}", {"spec": spec})
            assert found["status"]["allowed"] is plural.startswith("self")


@pytest.mark.parametrize("mode", ["AlwaysAllow", "AlwaysAllow,RBAC"])
async def test_a_server_that_asks_for_credentials_has_no_anonymous_users_beside_always_allow(
    tmp_path: Path, mode: str
) -> None:
    """Upstream switches anonymous requests off (`ApplyAuthorization`)."""
    async with guarded(tmp_path, authorization_mode=Texts(mode.split(","))) as made:
        assert (await made.ask("bob", "GET", "/api/v1/namespaces/default"))[0] == 200
        assert (await made.ask("", "GET", "/api/v1/namespaces/default"))[0] == 401
