"""Ways around the rights of a kubelet: each is refused beside the same request that is allowed.

The sources are plugin/pkg/auth/authorizer/node and plugin/pkg/admission/noderestriction.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hydrofoil.options import Texts
from tests.api.rights import Answered, Guarded, guarded
from tests.contract.late import LateLog, Truth

# The first token of a process loads the library that signs it.
importlib.import_module("joserfc.jws")
CORE = "/api/v1/namespaces/default"
MIRROR = {"kubernetes.io/config.mirror": "x"}
Body = dict[str, Any]
CONTAINERS: list[Body] = [{"name": "c", "image": "i"}]


class Kubelets:
    """A server with two nodes, and a pod on each that mounts a secret of its own."""

    def __init__(self, server: Guarded) -> None:
        self.server = server

    async def ask(self, node: str, method: str, path: str, body: Any = None, kind: str = "json") -> Answered:
        """Return status and body of a request of a kubelet."""
        headers = {
            "Impersonate-User": f"system:node:{node}",
            "Impersonate-Group": "system:nodes",
            "Content-Type": f"application/{kind}",
        }
        return await self.server.ask("admin", method, path, body, headers)

    async def status(self, node: str, method: str, path: str, body: Any = None, kind: str = "json") -> int:
        return (await self.ask(node, method, path, body, kind))[0]

    async def make(self, path: str, **body: Any) -> dict[str, Any]:
        return await self.server.make(path, body)


@pytest.fixture
async def kubelets(tmp_path: Path) -> AsyncIterator[Kubelets]:
    plugins = Texts(("NodeRestriction",))
    modes = Texts(("Node", "RBAC"))
    async with guarded(tmp_path, authorization_mode=modes, enable_admission_plugins=plugins) as server:
        made = Kubelets(server)
        for node in ("n1", "n2"):
            await made.make("/api/v1/nodes", metadata={"name": node})
            await made.make(f"{CORE}/secrets", metadata={"name": f"of-{node}"})
            volume = {"name": "v", "secret": {"secretName": f"of-{node}"}}
            spec = {"nodeName": node, "containers": CONTAINERS, "volumes": [volume]}
            await made.make(f"{CORE}/pods", metadata={"name": f"on-{node}"}, spec=spec)
        yield made


async def test_a_node_does_not_read_the_secrets_of_another(kubelets: Kubelets) -> None:
    """Not by name, by list, by watch or by a selector that looks like the name of its own."""
    secrets = f"{CORE}/secrets"
    assert await kubelets.status("n1", "GET", f"{secrets}/of-n1") == 200
    assert await kubelets.status("n1", "GET", f"{secrets}?fieldSelector=metadata.name%3Dof-n1") == 200
    for path in (
        f"{secrets}/of-n2",
        f"{secrets}/none",
        secrets,
        "/api/v1/secrets",
        f"{secrets}?fieldSelector=metadata.name%3Dof-n2",
        f"{secrets}?fieldSelector=metadata.name!%3Dof-n1",
        f"{secrets}?watch=1&fieldSelector=metadata.name%3Dof-n2&timeoutSeconds=1",
        "/api/v1/watch/namespaces/default/secrets/of-n2",
        f"{secrets}?labelSelector=metadata.name%3Dof-n1",
    ):
        assert await kubelets.status("n1", "GET", path) == 403, path
    assert await kubelets.status("n1", "DELETE", f"{secrets}/of-n1") == 403
    # Requirements are sorted, so this one asks for its own secret: and for one that has the other's name, too.
    both = f"{secrets}?fieldSelector=metadata.name%3Dof-n2,metadata.name%3Dof-n1"
    status, found = await kubelets.ask("n1", "GET", both)
    assert (status, found["items"]) == (200, [])


async def test_the_name_of_a_node_is_no_selector(kubelets: Kubelets) -> None:
    """A name with the syntax of selectors has the rights of no node."""
    assert await kubelets.status("n1", "GET", f"{CORE}/secrets/of-n1") == 200
    for node in ("n1,status.phase!=x", "n1=", "", "N1", "n1\\", "n1/"):
        assert await kubelets.status(node, "GET", f"{CORE}/secrets/of-n1") == 403, node


async def test_rights_follow_the_pods(kubelets: Kubelets) -> None:
    """They begin with a pod, move with its name to another node, and end with it, in the next request."""
    await kubelets.make(f"{CORE}/secrets", metadata={"name": "late"})
    assert await kubelets.status("n1", "GET", f"{CORE}/secrets/late") == 403
    environment = [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "late", "key": "k"}}}]
    containers = [{**CONTAINERS[0], "env": environment}]
    for node, other in (("n1", "n2"), ("n2", "n1")):
        pod = {"name": "late"}
        await kubelets.make(f"{CORE}/pods", metadata=pod, spec={"nodeName": node, "containers": containers})
        assert await kubelets.status(node, "GET", f"{CORE}/secrets/late") == 200
        assert await kubelets.status(other, "GET", f"{CORE}/secrets/late") == 403
        await kubelets.server.ask("admin", "DELETE", f"{CORE}/pods/late?gracePeriodSeconds=0")
        assert await kubelets.status(node, "GET", f"{CORE}/secrets/late") == 403


async def test_a_label_or_annotation_places_no_pod(kubelets: Kubelets) -> None:
    """A user who makes pods gives no other node the secrets of one."""
    await kubelets.make(f"{CORE}/secrets", metadata={"name": "placed"})
    volume = {"name": "v", "secret": {"secretName": "placed"}}
    claim = {"nodeName": "n2"}
    spec = {"nodeName": "n1", "containers": CONTAINERS, "volumes": [volume], "nodeSelector": claim}
    metadata = {"name": "placed", "labels": claim, "annotations": claim}
    await kubelets.make(f"{CORE}/pods", metadata=metadata, spec=spec)
    assert await kubelets.status("n1", "GET", f"{CORE}/secrets/placed") == 200
    assert await kubelets.status("n2", "GET", f"{CORE}/secrets/placed") == 403
    # Nor one that is made after the node has asked.
    await kubelets.make(f"{CORE}/pods", metadata={**metadata, "name": "later"}, spec=spec)
    assert await kubelets.status("n2", "GET", f"{CORE}/secrets/placed") == 403


async def test_a_volume_shows_its_own_secrets_to_the_node_of_its_claim(kubelets: Kubelets) -> None:
    """The way from a secret is volume, claim, pod, node; secrets of the controller are on none."""
    for name in ("stage", "controller"):
        await kubelets.make(f"{CORE}/secrets", metadata={"name": name})
    references = {
        f"{member}SecretRef": {"name": name, "namespace": "default"}
        for member, name in (("nodeStage", "stage"), ("controllerPublish", "controller"))
    }
    claim = {"namespace": "default", "name": "disk"}
    access: Body = {"accessModes": ["ReadWriteOnce"]}
    csi = {"driver": "d.example.com", "volumeHandle": "h", **references}
    spec = {**access, "capacity": {"storage": "1Gi"}, "csi": csi, "claimRef": claim}
    await kubelets.make("/api/v1/persistentvolumes", metadata={"name": "disk"}, spec=spec)
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "disk"}}
    spec = {"nodeName": "n1", "containers": CONTAINERS, "volumes": [volume]}
    await kubelets.make(f"{CORE}/pods", metadata={"name": "uses-disk"}, spec=spec)
    for path in (f"{CORE}/secrets/stage", "/api/v1/persistentvolumes/disk"):
        assert await kubelets.status("n1", "GET", path) == 200, path
        assert await kubelets.status("n2", "GET", path) == 403, path
    assert await kubelets.status("n1", "GET", f"{CORE}/secrets/controller") == 403


async def test_a_node_sees_its_own_pods_and_itself(kubelets: Kubelets) -> None:
    """A list of pods names the node in its selector; another node, a part of it or an inequality is not it."""
    assert await kubelets.status("n1", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1") == 200
    assert await kubelets.status("n1", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3D%3Dn1") == 200
    assert await kubelets.status("n1", "GET", f"{CORE}/pods/on-n1") == 200
    assert await kubelets.status("n1", "GET", "/api/v1/nodes/n1") == 200
    for path in (
        "/api/v1/pods",
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2",
        "/api/v1/pods?fieldSelector=spec.nodeName!%3Dn2",
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2&fieldSelector=spec.nodeName%3Dn1",
        "/api/v1/pods?labelSelector=spec.nodeName%3Dn1",
        "/api/v1/watch/pods?fieldSelector=spec.nodeName%3Dn1",
        f"{CORE}/pods/on-n2",
        f"{CORE}/pods/on-n1/log",
        "/api/v1/nodes/n2",
        "/api/v1/nodes",
        "/api/v1/nodes?fieldSelector=metadata.name%3Dn2",
    ):
        assert await kubelets.status("n1", "GET", path) == 403, path


async def test_a_mirror_pod_gives_no_rights(kubelets: Kubelets) -> None:
    """A kubelet makes pods for itself alone, owned by its node, and none that refers to anything."""
    _, node = await kubelets.ask("n1", "GET", "/api/v1/nodes/n1")
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": node["metadata"]["uid"], "controller": True}

    def pod(**changes: Any) -> dict[str, Any]:
        metadata: dict[str, Any] = {"name": "m", "annotations": MIRROR, "ownerReferences": [owner]}
        spec: dict[str, Any] = {"nodeName": "n1", "containers": CONTAINERS}
        for key, value in changes.items():
            (metadata if key in ("annotations", "ownerReferences") else spec)[key] = value
        return {"metadata": metadata, "spec": spec}

    path = f"{CORE}/pods?dryRun=All"
    status, answer = await kubelets.ask("n1", "POST", path, pod())
    assert status == 201, answer
    environment = [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "of-n2", "key": "k"}}}]
    whole = [{"secretRef": {"name": "of-n2"}}]
    changed: tuple[Body, ...] = (
        {"annotations": {}},
        {"nodeName": "n2"},
        {"ownerReferences": []},
        {"ownerReferences": [{**owner, "uid": "other"}]},
        {"ownerReferences": [{**owner, "name": "n2"}]},
        {"ownerReferences": [{**owner, "controller": False}]},
        {"ownerReferences": [{**owner, "blockOwnerDeletion": True}]},
        {"ownerReferences": [owner, {**owner, "uid": "u", "controller": False}]},
        {"volumes": [{"name": "v", "secret": {"secretName": "of-n2"}}]},
        {"volumes": [{"name": "v", "configMap": {"name": "c"}}]},
        {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
        {"volumes": [{"name": "v", "csi": {"driver": "d.example.com"}}]},
        {"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "of-n2"}}]}}]},
        {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]},
        {"initContainers": [{"name": "i", "image": "i", "env": environment}]},
        {"containers": [{**CONTAINERS[0], "envFrom": whole}]},
        {"imagePullSecrets": [{"name": "of-n2"}]},
        {"serviceAccountName": "default"},
        {"resourceClaims": [{"name": "r", "resourceClaimName": "c"}]},
    )
    for changes in changed:
        status, answer = await kubelets.ask("n1", "POST", path, pod(**changes))
        assert (status, answer["reason"]) == (403, "Forbidden"), changes
    # One that an administrator makes with a secret lets its node read nothing either.
    volume = {"name": "v", "secret": {"secretName": "of-n2"}}
    await kubelets.make(f"{CORE}/pods", **pod(volumes=[volume]))
    assert await kubelets.status("n1", "GET", f"{CORE}/secrets/of-n2") == 403


async def test_a_node_changes_little_of_itself(kubelets: Kubelets) -> None:
    """Labels that steer pods, taints, owners and the configuration source are not its own to change."""
    merge = "merge-patch+json"
    body: Body
    for body in ({"metadata": {"labels": {"example.com/a": "b", "kubernetes.io/hostname": "n1"}}}, {"status": {}}):
        assert await kubelets.status("n1", "PATCH", "/api/v1/nodes/n1", body, merge) == 200
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
    refused: tuple[Body, ...] = (
        {"metadata": {"labels": {"node-restriction.kubernetes.io/a": "b"}}},
        {"metadata": {"labels": {"x.node-restriction.kubernetes.io/a": "b"}}},
        {"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}},
        {"metadata": {"labels": {"a.k8s.io/b": "c"}}},
        {"metadata": {"ownerReferences": [owner]}},
        {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}},
    )
    for body in refused:
        for path in ("/api/v1/nodes/n1", "/api/v1/nodes/n1/status"):
            if path.endswith("status") and "spec" in body:
                continue
            assert await kubelets.status("n1", "PATCH", path, body, merge) == 403, (path, body)
    assert await kubelets.status("n1", "PATCH", "/api/v1/nodes/n2", {"status": {}}, merge) == 403
    apply = "apply-patch+yaml"
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"a.k8s.io/b": "c"}}}
    assert await kubelets.status("n1", "PATCH", "/api/v1/nodes/n1?fieldManager=f", body, apply) == 403


async def test_pods_of_other_nodes_are_not_deleted_evicted_or_reported_on(kubelets: Kubelets) -> None:
    merge = "merge-patch+json"
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction"}
    for node, expected in (("n1", True), ("n2", False)):
        pod = f"{CORE}/pods/on-{node}"
        assert (await kubelets.status("n1", "DELETE", f"{pod}?dryRun=All") == 200) is expected
        body = {**eviction, "metadata": {"name": f"on-{node}"}}
        assert (await kubelets.status("n1", "POST", f"{pod}/eviction?dryRun=All", body) == 201) is expected
        body = {"status": {"message": "m"}}
        assert (await kubelets.status("n1", "PATCH", f"{pod}/status", body, merge) == 200) is expected
    # An eviction that names another pod than its path.
    body = {**eviction, "metadata": {"name": "on-n1"}}
    assert await kubelets.status("n1", "POST", f"{CORE}/pods/on-n2/eviction?dryRun=All", body) == 403
    labels = {"metadata": {"labels": {"a": "b"}}}
    assert await kubelets.status("n1", "PATCH", f"{CORE}/pods/on-n1/status", labels, merge) == 403


async def test_a_token_is_for_a_pod_on_the_node_and_its_audiences(kubelets: Kubelets) -> None:
    """Not for a pod on another node, an account of no pod here, another audience, or without a pod."""
    await kubelets.make(f"{CORE}/serviceaccounts", metadata={"name": "runs"})
    source = {"serviceAccountToken": {"path": "t", "audience": "vault"}}
    uids = {}
    for node in ("n1", "n2"):
        volume = {"name": "v", "projected": {"sources": [source]}}
        spec = {"nodeName": node, "serviceAccountName": "runs", "containers": CONTAINERS, "volumes": [volume]}
        made = await kubelets.make(f"{CORE}/pods", metadata={"name": f"runs-{node}"}, spec=spec)
        uids[node] = made["metadata"]["uid"]

    async def asked(account: str, **spec: Any) -> int:
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        return await kubelets.status("n1", "POST", f"{CORE}/serviceaccounts/{account}/token", body)

    def bound(node: str, **changes: str) -> dict[str, str]:
        return {"kind": "Pod", "apiVersion": "v1", "name": f"runs-{node}", "uid": uids[node]} | changes

    vault = ["vault"]
    assert await asked("runs", audiences=vault, boundObjectRef=bound("n1")) == 201
    assert await asked("runs", audiences=vault, boundObjectRef=bound("n2")) == 403
    assert await asked("runs", audiences=vault, boundObjectRef=bound("n1", uid=uids["n2"])) == 403
    assert await asked("runs", audiences=vault, boundObjectRef=bound("n1", uid="")) == 403
    assert await asked("runs", audiences=vault, boundObjectRef=bound("n1", kind="Secret")) == 403
    assert await asked("runs", audiences=vault) == 403
    assert await asked("runs", boundObjectRef=bound("n1")) == 403
    assert await asked("runs", audiences=["other"], boundObjectRef=bound("n1")) == 403
    assert await asked("runs", audiences=["vault", "other"], boundObjectRef=bound("n1")) == 403
    assert await asked("default", audiences=vault, boundObjectRef=bound("n1")) == 403
    # An audience that a role grants.
    verbs = {"verbs": ["request-serviceaccounts-token-audience"], "apiGroups": [""], "resources": ["other"]}
    roles = "/apis/rbac.authorization.k8s.io/v1"
    await kubelets.make(f"{roles}/clusterroles", metadata={"name": "audience"}, rules=[verbs])
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "audience"}
    group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}
    await kubelets.make(f"{roles}/clusterrolebindings", metadata={"name": "audience"}, roleRef=role, subjects=[group])
    assert await asked("runs", audiences=["other"], boundObjectRef=bound("n1")) == 201


async def test_leases_csi_nodes_and_slices_are_those_of_the_node(kubelets: Kubelets) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    csi_nodes, slices = "/apis/storage.k8s.io/v1/csinodes", "/apis/resource.k8s.io/v1/resourceslices"
    for node, expected in (("n1", True), ("n2", False)):
        named = {"metadata": {"name": node}}
        assert (await kubelets.status("n1", "POST", leases, named) == 201) is expected
        assert (await kubelets.status("n1", "POST", csi_nodes, {**named, "spec": {"drivers": []}}) == 201) is expected
        pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": "d.example.com", "pool": pool, "nodeName": node}
        body = {"metadata": {"name": f"slice-{node}"}, "spec": spec}
        assert (await kubelets.status("n1", "POST", slices, body) == 201) is expected
        if not expected:
            await kubelets.server.make(slices, body)
        assert (await kubelets.status("n1", "DELETE", f"{slices}/slice-{node}?dryRun=All") == 200) is expected
    assert await kubelets.status("n1", "DELETE", f"{slices}?fieldSelector=spec.nodeName%3Dn1&dryRun=All") == 200
    assert await kubelets.status("n1", "DELETE", f"{slices}?fieldSelector=spec.nodeName%3Dn2&dryRun=All") == 403
    elsewhere = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    assert await kubelets.status("n1", "POST", elsewhere, {"metadata": {"name": "n1"}}) == 403


async def test_the_name_alone_or_the_group_alone_makes_no_kubelet(kubelets: Kubelets) -> None:
    """Both are needed (pkg/auth/nodeidentifier)."""
    path = f"{CORE}/secrets/of-n1"
    assert await kubelets.status("n1", "GET", path) == 200
    for headers in (
        {"Impersonate-User": "system:node:n1"},
        {"Impersonate-User": "n1", "Impersonate-Group": "system:nodes"},
        {"Impersonate-User": "system:node:n1", "Impersonate-Group": "System:Nodes"},
    ):
        assert (await kubelets.server.ask("admin", "GET", path, None, headers))[0] == 403, headers


async def test_rights_are_those_of_the_truth_on_every_server(tmp_path: Path) -> None:
    """A server that starts on full storage, and one that another writes beside, decide by the same pods."""
    truth = Truth()
    settings = {"authorization_mode": Texts(("Node", "RBAC"))}
    async with guarded(tmp_path, LateLog(truth), **settings) as first:
        await first.make(f"{CORE}/secrets", {"metadata": {"name": "s"}})
        volume = {"name": "v", "secret": {"secretName": "s"}}
        spec = {"nodeName": "n1", "containers": CONTAINERS, "volumes": [volume]}
        await first.make(f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": spec})
        async with guarded(tmp_path, LateLog(truth), **settings) as second:
            for server in (first, second):
                assert await Kubelets(server).status("n1", "GET", f"{CORE}/secrets/s") == 200
                assert await Kubelets(server).status("n2", "GET", f"{CORE}/secrets/s") == 403
            await first.make(f"{CORE}/pods", {"metadata": {"name": "q"}, "spec": {**spec, "nodeName": "n2"}})
            await first.ask("admin", "DELETE", f"{CORE}/pods/p?gracePeriodSeconds=0")
            async with asyncio.timeout(20):
                while await Kubelets(second).status("n1", "GET", f"{CORE}/secrets/s") == 200:
                    await asyncio.sleep(0.02)
                while await Kubelets(second).status("n2", "GET", f"{CORE}/secrets/s") == 403:
                    await asyncio.sleep(0.02)
