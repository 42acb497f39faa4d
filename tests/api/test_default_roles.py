"""Default roles at a restart (`component-helpers/auth/rbac/reconciliation`, reference `access.md`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hydrofoil.options import Texts
from tests.api.rights import RBAC, Guarded, guarded, opened, rule
from tests.contract.late import LateLog, Truth

ROLES, BINDINGS = f"{RBAC}/clusterroles", f"{RBAC}/clusterrolebindings"
PATCH = {"Content-Type": "application/merge-patch+json"}
AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"


async def change(server: Guarded, path: str, body: Any) -> None:
    code, found = await server.ask("admin", "PATCH", path, body, PATCH)
    assert code == 200, found


async def read(server: Guarded, path: str) -> Any:
    return (await server.ask("admin", "GET", path))[1]


def subject(name: str, kind: str = "User") -> dict[str, str]:
    return {"kind": kind, "name": name, "apiGroup": "rbac.authorization.k8s.io"}


async def test_a_restart_brings_back_what_default_roles_lack(tmp_path: Path) -> None:
    truth = Truth()
    viewer, discovery = f"{ROLES}/system:public-info-viewer", f"{ROLES}/system:discovery"
    scheduler, proxier = f"{BINDINGS}/system:kube-scheduler", f"{BINDINGS}/system:node-proxier"
    async with guarded(tmp_path, LateLog(truth)) as server:
        original = await read(server, viewer)
        untouched = await read(server, discovery)
        # Extra rules and labels stay; a changed value stays; what is missing is added in pieces.
        extra = rule("get", "pods")
        some = {"nonResourceURLs": ["/healthz", "/livez"], "verbs": ["get"]}
        meta = {"labels": {"kubernetes.io/bootstrapping": "mine", "a": "b"}, "annotations": {AUTOUPDATE: None}}
        await change(server, viewer, {"metadata": meta, "rules": [extra, some]})
        # Only the exact value protects.
        for name, value in (("system:basic-user", "false"), ("system:monitoring", "False")):
            await change(server, f"{ROLES}/{name}", {"metadata": {"annotations": {AUTOUPDATE: value}}, "rules": []})
        assert (await server.ask("admin", "DELETE", f"{ROLES}/system:node-bootstrapper"))[0] == 200
        await change(server, scheduler, {"subjects": [subject("more")]})
        assert (await server.ask("admin", "DELETE", proxier))[0] == 200
        other = {"metadata": {"name": "system:node-proxier"}, "subjects": [subject("own")]}
        other["roleRef"] = {"kind": "ClusterRole", "name": "view", "apiGroup": "rbac.authorization.k8s.io"}
        await server.make(BINDINGS, other)
        selectors = [{"matchLabels": {"own": "yes"}}]
        await change(server, f"{ROLES}/view", {"aggregationRule": {"clusterRoleSelectors": selectors}})
        covered = [{"nonResourceURLs": ["*"], "verbs": ["*"]}]
        await change(server, f"{ROLES}/system:service-account-issuer-discovery", {"rules": covered})
    async with guarded(tmp_path, LateLog(truth)) as server:
        found = await read(server, viewer)
        wanted = original["rules"][0]["nonResourceURLs"]
        pieces = [{"nonResourceURLs": [url], "verbs": ["get"]} for url in wanted if url not in ("/healthz", "/livez")]
        assert found["rules"] == [extra, some, *pieces]
        assert found["metadata"]["labels"] == {"a": "b", "kubernetes.io/bootstrapping": "mine"}
        assert found["metadata"]["annotations"] == {AUTOUPDATE: "true"}
        assert (await read(server, f"{ROLES}/system:basic-user"))["rules"] is None
        assert (await read(server, f"{ROLES}/system:monitoring"))["rules"]
        assert (await read(server, f"{ROLES}/system:node-bootstrapper"))["rules"]
        assert [s["name"] for s in (await read(server, scheduler))["subjects"]] == ["more", "system:kube-scheduler"]
        again = await read(server, proxier)
        assert [s["name"] for s in again["subjects"]] == ["system:kube-proxy"]
        assert again["roleRef"]["name"] == "system:node-proxier"
        given = (await read(server, f"{ROLES}/view"))["aggregationRule"]["clusterRoleSelectors"]
        assert given == [*selectors, {"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}]
        assert (await read(server, f"{ROLES}/system:service-account-issuer-discovery"))["rules"] == covered
        same = await read(server, discovery)
        assert same["metadata"]["resourceVersion"] == untouched["metadata"]["resourceVersion"]
        rights = await server.ask("", "GET", "/livez")
        assert rights[0] == 200


async def test_a_deleted_viewer_binding_continues_that_of_discovery(tmp_path: Path) -> None:
    """`primeSplitClusterRoleBindings`: its subjects are those of system:discovery; missing ones are added."""
    truth = Truth()
    path = f"{BINDINGS}/system:public-info-viewer"
    async with guarded(tmp_path, LateLog(truth)) as server:
        assert (await server.ask("admin", "DELETE", path))[0] == 200
        await change(server, f"{BINDINGS}/system:discovery", {"subjects": [subject("crew", "Group")]})
    async with guarded(tmp_path, LateLog(truth)) as server:
        names = [s["name"] for s in (await read(server, path))["subjects"]]
        assert names == ["crew", "system:authenticated", "system:unauthenticated"]


@pytest.mark.parametrize(("mode", "there"), [("", True), ("RBAC", True), ("AlwaysAllow", False)])
async def test_default_roles_belong_to_the_mode(mode: str, there: bool) -> None:
    """Without RBAC there are none (`DisabledPostStartHooks`); an open server has them, so that `--as` shows rights."""
    async with opened(authorization_mode=Texts(filter(None, (mode,)))) as server:
        code, _ = await server.ask("", "GET", f"{ROLES}/view")
        assert code == (200 if there else 404)


async def test_every_default_object_has_its_manager(tmp_path: Path) -> None:
    """Also those that begin as a copy; times of conditions have whole seconds."""
    async with guarded(tmp_path) as server:
        for path in (ROLES, BINDINGS, f"{RBAC}/roles", f"{RBAC}/rolebindings"):
            for item in (await read(server, path))["items"]:
                (entry,) = item["metadata"]["managedFields"]
                assert entry["manager"] == "kube-apiserver", item["metadata"]["name"]
                assert ("f:roleRef" in entry["fieldsV1"]) == path.endswith("bindings")
        (cidr,) = (await read(server, "/apis/networking.k8s.io/v1/servicecidrs"))["items"]
        assert "." not in cidr["status"]["conditions"][0]["lastTransitionTime"]
