"""Servers, commands and objects for tests of dumps."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.api.data_dirs import DEFINITION, called
from tests.conftest import command

NAMESPACE = {"metadata": {"name": "team"}}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
SELECTED = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
APPS = "/apis/apps/v1/namespaces/team"
BOATS = "/apis/example.com/v1/namespaces/team/boats"
LISTS = (
    "/api/v1/namespaces",
    "/api/v1/secrets",
    "/api/v1/configmaps",
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/replicasets",
    "/apis/example.com/v1/boats",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
)


@contextmanager
def serving(*flags: str) -> Iterator[str]:
    """Run a server in a process; yield its URL."""
    with subprocess.Popen(command("serve", "--port", "0", *flags), stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().removeprefix("serving on ").strip()
        finally:
            running.kill()


def fill(url: str) -> None:
    """Create objects: a definition and an instance, and a deployment with its dependant."""
    called(f"{url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
    called(f"{url}/api/v1/namespaces", NAMESPACE)
    called(f"{url}/api/v1/namespaces/team/secrets", {"metadata": {"name": "s"}, "data": {"a": "c2VjcmV0"}})
    web = called(f"{url}{APPS}/deployments", {"metadata": {"name": "web"}, "spec": SELECTED})
    status = {**web, "status": {"replicas": 3, "readyReplicas": 2}}
    called(f"{url}{APPS}/deployments/web/status", status, "PUT")
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": web["metadata"]["uid"]}
    metadata = {"name": "web-1", "ownerReferences": [{**owner, "controller": True}]}
    called(f"{url}{APPS}/replicasets", {"metadata": metadata, "spec": SELECTED})
    boat = {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": "b"}, "color": "red"}
    called(f"{url}{BOATS}", boat)


def run(*words: str) -> tuple[int, Any, str]:
    """Run a command; return its exit code, the JSON or the text that it prints, and its errors."""
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout, done.stderr


def lists(url: str, *left_out: str) -> dict[str, list[Any]]:
    """Return the objects of lists, without members of their metadata."""
    found = {}
    for path in LISTS:
        items = called(f"{url}{path}")["items"]
        for item in items:
            item["metadata"] = {name: value for name, value in item["metadata"].items() if name not in left_out}
            if "ownerReferences" in item["metadata"] and "uid" in left_out:
                item["metadata"]["ownerReferences"] = [
                    {name: value for name, value in reference.items() if name != "uid"}
                    for reference in item["metadata"]["ownerReferences"]
                ]
        found[path] = items
    return found
