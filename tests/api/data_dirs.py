"""Servers in processes that keep their objects in a folder."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import command

MAPS = "/api/v1/namespaces/default/configmaps"
DEFINITION = {
    "metadata": {"name": "boats.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "boats", "kind": "Boat"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "selectableFields": [{"jsonPath": ".color"}],
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"color": {"type": "string"}}}},
            }
        ],
    },
}
BOATS = "/apis/example.com/v1/namespaces/default/boats"


@contextmanager
def served(folder: Path, *flags: str) -> Iterator[str]:
    """Run a server on a folder until it is killed; return its URL."""
    args = command("serve", "--port", "0", "--test-controls", "--data-dir", str(folder), *flags)
    with subprocess.Popen(args, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().removeprefix("serving on ").strip()
        finally:
            running.kill()


def called(url: str, body: Any = None, method: str | None = None) -> Any:
    """Return the answer to a request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())


def failed(url: str, body: Any = None, method: str | None = None) -> Any:
    """Return the Status of a request that fails."""
    with pytest.raises(urllib.error.HTTPError) as error:
        called(url, body, method)
    with error.value as answer:
        return json.loads(answer.read())


def settled(url: str) -> None:
    """Wait until controllers have written what follows from the objects."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    # An apply of the controls answers once they have; this one changes nothing.
    called(f"{url}/hydrofoil/v1/apply", namespace)


def everything(url: str) -> dict[str, str]:
    """Return the versions of all objects of the built-in groups, by path."""
    found = {}
    for prefix in ("/api/v1", *(f"/apis/{g['preferredVersion']['groupVersion']}" for g in groups(url))):
        for resource in called(f"{url}{prefix}")["resources"]:
            if "list" in resource["verbs"]:
                for item in called(f"{url}{prefix}/{resource['name']}")["items"]:
                    meta = item["metadata"]
                    key = f"{prefix}/{resource['name']}/{meta.get('namespace', '')}/{meta['name']}"
                    found[key] = meta.get("resourceVersion", "")
    return found


def groups(url: str) -> list[dict[str, Any]]:
    """Return the groups that are served."""
    found: list[dict[str, Any]] = called(f"{url}/apis")["groups"]
    return found


def events(url: str, count: int) -> list[tuple[str, str]]:
    """Return the first events of a watch: their types and names."""
    with urllib.request.urlopen(url, timeout=20) as stream:
        lines = [json.loads(stream.readline()) for _ in range(count)]
    return [(line["type"], line["object"]["metadata"]["name"]) for line in lines]
