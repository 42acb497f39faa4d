"""Defaults and exemptions of pod security in `--admission-control-config-file`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hydrofoil import Server

CONFIGURATION = """
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline, enforce-version: latest}
    exemptions: {usernames: [root], namespaces: [free], runtimeClasses: [vm]}
"""
RIGHTS: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "free"}},
    {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "vm"}, "handler": "vm"},
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "all"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "root"}],
    },
]


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return the path of the file."""
    file = tmp_path / "admission.yaml"
    file.write_text(CONFIGURATION)
    return str(file)


def pod(**spec: Any) -> dict[str, Any]:
    """Return a pod that baseline forbids."""
    held = {"hostNetwork": True, "containers": [{"name": "c", "image": "i"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "p"}, "spec": held}


async def test_defaults_hold_where_a_namespace_has_no_labels(path: str) -> None:
    async with Server(admission_control_config_file=path) as server, server.session() as session:
        await server.apply(RIGHTS)

        async def create(namespace: str = "default", headers: dict[str, str] | None = None, **spec: Any) -> str:
            url = f"/api/v1/namespaces/{namespace}/pods"
            async with session.post(url, json=pod(**spec), headers=headers) as answer:
                return "" if answer.status == 201 else (await answer.json())["message"]

        assert 'violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)' in await create()
        assert await create("free") == ""
        assert await create(headers=server.user("root").headers) == ""
        assert await create(runtimeClassName="vm") == ""
        labels = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}}
        media = {"Content-Type": "application/merge-patch+json"}
        async with session.patch("/api/v1/namespaces/default", json=labels, headers=media) as answer:
            assert answer.status == 200
        assert await create() == ""


async def test_labels_of_an_exempt_namespace_are_warned_of(path: str) -> None:
    async with Server(admission_control_config_file=path) as server, server.session() as session:
        assert await warning(session, "free", "restricted") == (
            'namespace "free" is exempt from Pod Security, and the policy (enforce=restricted:latest, '
            "warn=restricted:latest) will be ignored"
        )
        assert await warning(session, "held", "restricted") == ""


async def warning(session: aiohttp.ClientSession, name: str, level: str) -> str:
    """Create a namespace with a level; return the text of the warning."""
    labels = {"pod-security.kubernetes.io/enforce": level}
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    async with session.post("/api/v1/namespaces", json=body) as answer:
        assert answer.status == 201
        return answer.headers.get("Warning", "").removeprefix('299 - "').removesuffix('"').replace('\\"', '"')
