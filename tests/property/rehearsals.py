"""A server, its dump, and the requests by which a change is made on it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from hydrofoil.admission.options import AdmissionOptions
from hydrofoil.apis.options import ApiOptions
from hydrofoil.controls.documents import Document
from hydrofoil.server.dumped_log import Contents, read_dump
from hydrofoil.testing.remote_server import RemoteServer

Object = dict[str, Any]
FLAGS: Object = {**AdmissionOptions.DEFAULTS, **ApiOptions.DEFAULTS, "webhooks": False}
RBAC = "/apis/rbac.authorization.k8s.io/v1"
LISTS = {
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    "/api/v1/namespaces": ("v1", "Namespace"),
    "/api/v1/serviceaccounts": ("v1", "ServiceAccount"),
    "/api/v1/configmaps": ("v1", "ConfigMap"),
    "/api/v1/resourcequotas": ("v1", "ResourceQuota"),
    "/apis/apps/v1/deployments": ("apps/v1", "Deployment"),
    f"{RBAC}/clusterroles": ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    f"{RBAC}/roles": ("rbac.authorization.k8s.io/v1", "Role"),
    f"{RBAC}/rolebindings": ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    f"{RBAC}/clusterrolebindings": ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    "/apis/example.com/v1/boats": ("example.com/v1", "Boat"),
}
"""The lists of a dump, with the types of their items."""


def call(
    server: RemoteServer, method: str, path: str, body: Any = None, media: str = "application/json", user: str = ""
) -> tuple[int, Any]:
    """Return the code and the content of an answer."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": media, **server.headers, **({"Impersonate-User": user} if user else {})}
    request = urllib.request.Request(server.url + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as e:
        with e:
            data = e.read()
            return e.code, json.loads(data) if data.startswith(b"{") else data


def create(server: RemoteServer, path: str, body: Object) -> Object:
    """Create an object that is in order."""
    code, content = call(server, "POST", path, body)
    assert code == 201, content
    found: Object = content
    return found


def take_dump(server: RemoteServer, folder: Path) -> Contents:
    """Return the objects of a server, as an export has them."""
    lines = []
    for path, (api_version, kind) in LISTS.items():
        code, content = call(server, "GET", path)
        for item in content["items"] if code == 200 else ():
            lines.append(json.dumps({"apiVersion": api_version, "kind": kind, **item}))
    place = folder / "dump.jsonl"
    place.write_text("\n".join(lines))
    return read_dump(str(place))


def documents(*contents: Object) -> list[Document]:
    """Return objects as those of files."""
    return [Document(f"file {number}", content) for number, content in enumerate(contents)]


def keys(entries: list[Object]) -> set[tuple[str, str, str]]:
    """Return the objects of a report."""
    return {(entry["kind"], entry["namespace"], entry["name"]) for entry in entries}
