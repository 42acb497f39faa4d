"""Owners of objects: rights that a plug-in asks for (plugin/pkg/admission/gc)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hydrofoil.options import Texts
from tests.api.rights import guarded, rule

MAPS = "/api/v1/namespaces/default/configmaps"
PLUGIN = Texts(("OwnerReferencesPermissionEnforcement",))


def owned(name: str, **more: Any) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "u", **more}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "ownerReferences": [owner]}}


async def test_owners_need_the_right_to_delete_and_blocking_that_to_finalizers(tmp_path: Path) -> None:
    async with guarded(tmp_path, enable_admission_plugins=PLUGIN) as server:
        await server.allow("ada", "makes", rule("create patch", "configmaps"), namespace="default")
        # A new object is its author's own.
        assert (await server.ask("ada", "POST", MAPS, owned("own")))[0] == 201
        plain = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain"}}
        assert (await server.ask("ada", "POST", MAPS, plain))[0] == 201
        why = "cannot set an ownerRef on a resource you can't delete: , <nil>"
        for kind in ("merge-patch+json", "apply-patch+yaml"):
            headers = {"Content-Type": f"application/{kind}"}
            path = f"{MAPS}/plain?fieldManager=f"
            status, answer = await server.ask("ada", "PATCH", path, owned("plain"), headers)
            assert (status, answer["message"]) == (403, f'configmaps "plain" is forbidden: {why}')
        await server.allow("ada", "deletes", rule("delete", "configmaps"), namespace="default")
        assert (await server.ask("ada", "POST", MAPS, owned("a")))[0] == 201
        status, answer = await server.ask("ada", "POST", MAPS, owned("c", blockOwnerDeletion=True))
        why = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
        assert (status, why in answer["message"]) == (403, True)
        status, answer = await server.ask("ada", "POST", MAPS, owned("c", blockOwnerDeletion=True, kind="None"))
        assert (status, 'no matches for kind "None" in version "apps/v1"' in answer["message"]) == (403, True)
        finalizers = rule("update", "deployments/finalizers", "apps", resourceNames=["d"])
        await server.allow("ada", "finalizes", finalizers, namespace="default")
        assert (await server.ask("ada", "POST", MAPS, owned("c", blockOwnerDeletion=True)))[0] == 201


async def test_the_plug_in_of_owners_is_off_by_default(tmp_path: Path) -> None:
    async with guarded(tmp_path) as server:
        await server.allow("ada", "makes", rule("create", "configmaps"), namespace="default")
        assert (await server.ask("ada", "POST", MAPS, owned("a", blockOwnerDeletion=True)))[0] == 201
