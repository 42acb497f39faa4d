"""Pods of templates, and Events about them (`pkg/controller/controller_utils_test.go`)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.pod_control import PodControl, is_namespace_terminating, pod_from_template, pod_prefix
from hydrofoil.controllers.runtime.client import Client
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.errors import ApiError, forbidden
from hydrofoil.registry.write import Write
from tests.unit.controllers.runtime.clusters import running
from tests.unit.parts import resource

PODS, EVENTS = resource("pods"), resource("events")
OWNER = Owner(ObjectMeta("web", uid="u", namespace="a"), "apps/v1", "ReplicaSet")
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "web"}, "annotations": {"a": "b"}, "finalizers": ["a.b/c"], "name": "ignored"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


class Controlled:
    """A control of pods over an empty store."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.recorder = runtime.recorder("a-controller", service_account("a-controller"))
        self.control = PodControl(Client(lambda *_, **__: Write(), runtime.registry), self.recorder, PODS)

    async def lines(self) -> list[str]:
        """Return the events, once they are written."""
        await self.runtime.idle()
        events = [json.loads(stored.json) for stored in self.runtime.registry.all(EVENTS)]
        return [f"{event['type']} {event['reason']}: {event['message']}" for event in events]


@pytest.fixture
async def controlled() -> AsyncIterator[Controlled]:
    async with running() as runtime:
        found = Controlled(runtime)
        yield found
        await found.recorder.close()


async def test_a_pod_of_a_template(controlled: Controlled) -> None:
    stored = await controlled.control.create_pods(OWNER, TEMPLATE)
    meta = json.loads(stored.json)["metadata"]
    assert stored.name.startswith("web-") and meta["generateName"] == "web-"
    assert meta["labels"] == {"app": "web"} and meta["annotations"] == {"a": "b"} and meta["finalizers"] == ["a.b/c"]
    assert meta["ownerReferences"] == [OWNER.reference]
    assert await controlled.lines() == [f"Normal SuccessfulCreate: Created pod: {stored.name}"]


async def test_a_refused_pod(controlled: Controlled) -> None:
    with pytest.raises(ApiError, match="Required value"):
        await controlled.control.create_pods(OWNER, {**TEMPLATE, "spec": {}})
    (line,) = await controlled.lines()
    assert line.startswith("Warning FailedCreate: Error creating: Pod ") and "Required value" in line
    with pytest.raises(ApiError, match="no labels"):
        await controlled.control.create_pods(OWNER, {"spec": TEMPLATE["spec"]})


async def test_a_deletion(controlled: Controlled) -> None:
    stored = await controlled.control.create_pods(OWNER, {**TEMPLATE, "metadata": {"labels": {"app": "web"}}})
    await controlled.control.delete_pod(OWNER, stored.name)
    with pytest.raises(ApiError) as raised:
        await controlled.control.delete_pod(OWNER, "other")
    assert raised.value.code == 404
    assert (await controlled.lines())[1:] == [f"Normal SuccessfulDelete: Deleted pod: {stored.name}"]


async def test_a_patch(controlled: Controlled) -> None:
    stored = await controlled.control.create_pods(OWNER, TEMPLATE)
    patched = await controlled.control.patch("a", stored.name, {"metadata": {"labels": {"b": "c"}}})
    assert json.loads(patched.json)["metadata"]["labels"] == {"app": "web", "b": "c"}


def test_prefixes() -> None:
    assert (
        pod_prefix("web") == "web-" and pod_prefix("x" * 252) == "x" * 252 + "-" and pod_prefix("x" * 253) == "x" * 253
    )
    assert pod_from_template(TEMPLATE, OWNER, "other-")["metadata"]["generateName"] == "other-"


def test_refusals_of_a_namespace_that_ends() -> None:
    causes = [{"reason": "NamespaceTerminating", "message": "m", "field": "metadata.namespace"}]
    assert is_namespace_terminating(forbidden("", "pods", "x", "it ends", causes))
    assert not is_namespace_terminating(forbidden("", "pods", "x", "no"))
