"""Keys and values in etcd are kube-apiserver's: those of every built-in kind, in both directions."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from typing import Any
from uuid import uuid4

import pytest

from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.storage.storage import Storage
from tests.conformance.replay.golden import read_lines
from tests.conformance.suites import FIXTURES
from tests.contract.logs import CATALOG
from tests.etcd import Etcd, etcd_log

OBJECTS = {line["name"]: line for line in read_lines(FIXTURES)}
"""Upstream's fixtures by their names."""
SPECIAL = {
    "services": "services/specs",
    "endpoints": "services/endpoints",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
    "ingresses": "ingress",
    "apiservices": "apiregistration.k8s.io/apiservices",
    "customresourcedefinitions": "apiextensions.k8s.io/customresourcedefinitions",
}
"""The prefixes that differ from the plural (kubernetes `test/integration/etcd/data.go`)."""
CONVERTED = (".serviceAccount", ".podCIDRs[]", ".podIPs[].ip", ".stringData")
"""Members that conversion derives from others (kubernetes `pkg/apis/core/v1/conversion.go`)."""

pytestmark = pytest.mark.program("etcd")


def file_of(resource: Resource) -> str:
    """Return the name of the fixture of a kind."""
    return f"{resource.group or 'core'}.{resource.version}.{resource.kind}"


KINDS = [r for r in CATALOG.resources() if "watch" in r.verbs and file_of(r) in OBJECTS]


def put(etcd: Etcd, key: str, value: bytes) -> None:
    """Write a key."""
    body = {"key": b64encode(key.encode()).decode(), "value": b64encode(value).decode()}
    etcd.call("kv/put", json.dumps(body).encode())


def read(etcd: Etcd, key: str) -> bytes:
    """Return the value of a key."""
    found = json.loads(etcd.call("kv/range", json.dumps({"key": b64encode(key.encode()).decode()}).encode()))
    return b64decode(found["kvs"][0]["value"])


def content(data: bytes) -> dict[str, Any]:
    """Return an object without the members that name one state of it."""
    found: dict[str, Any] = json.loads(data)
    for name in ("resourceVersion", "selfLink", "name"):
        found["metadata"].pop(name, None)
    # The name of a namespace is a label of it, too.
    found["metadata"].get("labels", {}).pop("kubernetes.io/metadata.name", None)
    return found


def test_every_kind_has_a_fixture() -> None:
    assert len(KINDS) > 55


@pytest.mark.parametrize("resource", KINDS, ids=file_of)
async def test_a_kind_is_read_and_written_as_by_kube_apiserver(resource: Resource, etcd: Etcd) -> None:
    given = b64decode(OBJECTS[file_of(resource)]["protobuf"])
    expected = content(OBJECTS[file_of(resource)]["json"].encode())
    root, plural = f"/{uuid4()}", resource.plural
    below = f"{root}/{SPECIAL.get(plural, plural)}/" + ("namespaceValue/" if resource.namespaced else "")
    await asyncio.to_thread(put, etcd, f"{below}nameValue", given)
    storage = Storage(etcd_log(etcd.url, root), Clock())
    await storage.open()
    collection = storage.collection(resource.storage, resource.native)
    await collection.wait()
    namespace = "namespaceValue" if resource.namespaced else ""
    assert not collection.fault(namespace, "nameValue")
    found = collection.get(resource.native, namespace, "nameValue")
    assert found
    shown = content(found.json)
    # Defaults and members of other versions may be added; all that was there is there.
    assert [path for path in lacking(shown, expected) if not path.endswith(CONVERTED)] == []
    copy = found.thaw()
    copy.set(["metadata", "name"], b'"other"')
    if not namespace:
        copy.set(["metadata", "namespace"], None)
        del shown["metadata"]["namespace"]
    await collection.create(copy)
    value = await asyncio.to_thread(read, etcd, f"{below}other")
    # That of discovery's hashes, which were recorded.
    assert resource.storage_version
    group, version, kind = resource.storage_version
    api_version = f"{group}/{version}" if group else version
    if group in ("apiextensions.k8s.io", "apiregistration.k8s.io"):
        assert json.loads(value)["apiVersion"] == api_version
        assert "resourceVersion" not in json.loads(value)["metadata"]
    else:
        type_meta = b"".join(bytes([tag, len(t)]) + t.encode() for tag, t in ((0x0A, api_version), (0x12, kind)))
        assert value.startswith(b"k8s\0\x0a" + bytes([len(type_meta)]) + type_meta)
    again = Storage(etcd_log(etcd.url, root), Clock())
    await again.open()
    theirs = again.collection(resource.storage, resource.native)
    await theirs.wait()
    back = theirs.get(resource.native, namespace, "other")
    assert back and content(back.json) == shown
    await storage.close()
    await again.close()


def lacking(whole: Any, part: Any, path: str = "") -> list[str]:
    """Return the paths at which a value lacks something of another one."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return [found for k, v in part.items() for found in lacking(whole.get(k), v, f"{path}.{k}")]
    if isinstance(part, list) and isinstance(whole, list) and len(part) == len(whole):
        return [found for at in zip(whole, part, strict=True) for found in lacking(*at, f"{path}[]")]
    return [] if whole == part else [path]
