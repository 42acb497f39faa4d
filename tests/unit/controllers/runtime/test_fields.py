"""Fields of stored objects."""

from __future__ import annotations

import json

import pytest

from hydrofoil.controllers.runtime import fields
from hydrofoil.engine import Stored
from hydrofoil.registry.write import Write
from tests.unit.parts import Object, draft, opened, resource

OWNERS = [
    {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "one"},
    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "two", "controller": True},
]
PODS = resource("pods")


async def pod(manager: str = "", **metadata: object) -> Stored:
    body: Object = {
        "metadata": {"name": "p", "namespace": "a", **metadata},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
    }
    async with opened() as registry:
        return await registry.create(PODS, "a", draft(PODS, body), Write(manager=manager))


@pytest.mark.parametrize("manager", ["", "me"])
async def test_metadata_lacks_managed_fields_only(manager: str) -> None:
    stored = await pod(manager, labels={"app": "web"}, ownerReferences=OWNERS, finalizers=["e.com/stay"])
    wanted = json.loads(stored.json)["metadata"]
    wanted.pop("managedFields", None)
    assert fields.metadata(stored) == wanted


async def test_a_field_is_found_by_its_path() -> None:
    stored = await pod(labels={"app": "web"})
    assert fields.field(stored, "metadata", "labels", "app") == "web"
    assert fields.field(stored, "spec", "nodeName") == "n"
    assert fields.field(stored, "kind") == "Pod"
    for absent in (("metadata", "labels", "app", "x"), ("spec", "x", "y"), ("x",)):
        assert fields.field(stored, *absent) is None


async def test_indices_have_their_values() -> None:
    stored = await pod(labels={"app": "web"}, ownerReferences=OWNERS)
    assert fields.owner_uids(stored) == ("one", "two")
    assert fields.controller_uid(stored) == ("two",)
    assert fields.node_name(stored) == ("n",)
    assert fields.labels(stored) == ("app=web",)
    bare = await pod()
    assert fields.owner_uids(bare) == fields.controller_uid(bare) == fields.labels(bare) == ()


async def test_the_name_of_a_label_is_no_deletion() -> None:
    assert not fields.is_deleting(await pod(annotations={"deletionTimestamp": "x"}))
    assert fields.owner_uids(await pod(annotations={"ownerReferences": "x"})) == ()
