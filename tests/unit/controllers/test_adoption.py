"""What an owner claims, adopts and releases (`pkg/controller/controller_ref_manager_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.json import decode

from hydrofoil.controllers.adoption import ControllerRefManager, deletion_check
from hydrofoil.controllers.objects.meta import LabelSelector, ObjectMeta
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.runtime.client import Client
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.engine import Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.write import Write
from tests.unit.controllers.runtime.clusters import MAPS, create, running
from tests.unit.parts import draft, resource

PODS = resource("pods")
SELECTOR = LabelSelector({"app": "web"})
WEB = {"app": "web"}
SPEC = {"containers": [{"name": "c", "image": "i"}]}


def owned_by(uid: str, *, controller: bool = True) -> list[dict[str, Any]]:
    """Owner references."""
    return [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": uid, "controller": controller}]


class Claims:
    """An owner in the store, and pods that it might own."""

    def __init__(self, runtime: Runtime, owner: Stored) -> None:
        self.registry = runtime.registry
        self.client = Client(lambda *_, **__: Write(), runtime.registry)
        self.owner = Owner(decode(owner.member("metadata") or b"", type=ObjectMeta), "v1", "ConfigMap")
        self.uid = owner.uid
        self.patches = 0

    async def pod(self, name: str, **metadata: Any) -> Pod:
        """Create a pod."""
        body = {"metadata": {"name": name, "namespace": "a", **metadata}, "spec": SPEC}
        return decode((await self.registry.create(PODS, "a", draft(PODS, body), Write())).json, type=Pod)

    async def patch(self, namespace: str, name: str, patch: dict[str, Any]) -> Stored:
        self.patches += 1
        return await self.client.patch(PODS, namespace, name, patch)

    async def claim(self, *pods: Pod, finalizers: tuple[str, ...] = ()) -> list[str]:
        """Return the names of the pods that the owner claims."""
        check = deletion_check(self.registry, MAPS, self.owner)
        manager: ControllerRefManager[Pod] = ControllerRefManager(
            self.owner, SELECTOR, self.patch, check, finalizers=finalizers
        )
        return [pod.metadata.name for pod in await manager.claim(pods)]

    def present(self, name: str) -> ObjectMeta:
        """Return the metadata of a pod in the store."""
        return decode(self.registry.get(PODS, "a", name).json, type=Pod).metadata


@pytest.fixture
async def claims() -> AsyncIterator[Claims]:
    async with running() as runtime:
        yield Claims(runtime, await create(runtime, "o"))


async def test_what_is_owned_and_matches_is_claimed_without_a_write(claims: Claims) -> None:
    pod = await claims.pod("x", labels=WEB, ownerReferences=owned_by(claims.uid))
    assert await claims.claim(pod) == ["x"]
    assert claims.patches == 0


async def test_an_orphan_is_adopted_with_finalizers(claims: Claims) -> None:
    pod = await claims.pod("x", labels=WEB, ownerReferences=owned_by("other", controller=False))
    assert await claims.claim(pod, finalizers=("example.com/f",)) == ["x"]
    meta = claims.present("x")
    assert meta.controller is not None and meta.controller.uid == claims.uid
    assert len(meta.owner_references) == 2 and meta.finalizers == ("example.com/f",)


async def test_what_does_not_match_is_released(claims: Claims) -> None:
    pod = await claims.pod("x", labels={"app": "db"}, ownerReferences=owned_by(claims.uid), finalizers=["a.b/c"])
    assert await claims.claim(pod, finalizers=("a.b/c",)) == []
    assert claims.present("x").owner_references == () and claims.present("x").finalizers == ()


async def test_others_are_left_alone(claims: Claims) -> None:
    foreign = await claims.pod("x", labels=WEB, ownerReferences=owned_by("other"))
    orphan = await claims.pod("y", labels={"app": "db"})
    assert await claims.claim(foreign, orphan) == [] and claims.patches == 0


async def test_an_orphan_that_is_gone_or_another_one_is_not_claimed(claims: Claims) -> None:
    gone = await claims.pod("x", labels=WEB)
    await claims.registry.delete(PODS, "a", "x", DeleteOptions(grace=0), Write())
    assert await claims.claim(gone) == []
    other = await claims.pod("x", labels=WEB)
    with pytest.raises(ApiError):
        # It waits for its event, and is tried again.
        await claims.claim(gone)
    assert claims.present("x").uid == other.metadata.uid and claims.present("x").controller is None


async def test_all_others_are_claimed_before_an_error(claims: Claims) -> None:
    gone = await claims.pod("x", labels=WEB)
    await claims.registry.delete(PODS, "a", "x", DeleteOptions(grace=0), Write())
    await claims.pod("x", labels=WEB)
    later = await claims.pod("y", labels=WEB)
    with pytest.raises(ApiError):
        await claims.claim(gone, later)
    assert claims.present("y").controller is not None


async def test_an_owner_that_is_gone_in_the_store_adopts_nothing(claims: Claims) -> None:
    pod = await claims.pod("x", labels=WEB)
    await claims.registry.delete(MAPS, "a", "o", DeleteOptions(), Write())
    with pytest.raises(ApiError):
        await claims.claim(pod)
    assert claims.patches == 0 and claims.present("x").controller is None
