"""Objects whose stored values cannot be read, and their deletion; answers of kube-apiserver 1.36.1."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from hydrofoil.options import Texts
from tests.api.calls import get, post
from tests.api.corrupt import serving
from tests.api.keys import aes, configured
from tests.api.rights import RBAC, guarded
from tests.etcd import Etcd

NAMESPACE = "/api/v1/namespaces/default"
SECRETS, MAPS = f"{NAMESPACE}/secrets", f"{NAMESPACE}/configmaps"
OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential"
GATE = {"AllowUnsafeMalformedObjectDeletion": True}
AES = "no matching key was found for the provided AES transformer"
SEALED = f"data from the storage is not transformable revision=0: {AES}"
"""The error of a value whose key is gone."""


def corrupt(key: str, why: str) -> str:
    more = f"ResourceVersion: 0, AdditionalErrorMsg: {why}"
    return f"StorageError: corrupt object, Code: 7, Key: {key}, {more}"


async def ask(api: aiohttp.ClientSession, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
    async with api.request(method, path, json=body, **more) as r:
        return r.status, await r.json(content_type=None)


async def keyed(folder: Path, letter: str) -> str:
    path = folder / f"{letter}.yaml"
    return str(await asyncio.to_thread(configured, path, (["secrets"], [aes(letter)])))


async def lost(tmp_path: Path, *names: str) -> dict[str, Any]:
    """Write secrets by a key that is gone then; return the flags of a server without it."""
    flags: dict[str, Any] = {"data_dir": str(tmp_path / "data"), "feature_gates": GATE}
    async with serving(**flags, encryption_provider_config=await keyed(tmp_path, "a")) as api:
        for name in names:
            await post(api, SECRETS, {"metadata": {"name": name, "finalizers": ["e.com/kept"]}})
    return {**flags, "encryption_provider_config": await keyed(tmp_path, "b")}


def internal(why: str) -> dict[str, Any]:
    found = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    found["message"] = f"Internal error occurred: {why}"
    return found | {"reason": "InternalError", "details": {"causes": [{"message": why}]}, "code": 500}


async def test_what_a_lost_key_leaves_in_a_folder_can_be_deleted(tmp_path: Path) -> None:
    flags = await lost(tmp_path, "a", "b")
    async with serving(**flags) as api:
        why = corrupt("/secrets/default/a", SEALED)
        assert await ask(api, "GET", f"{SECRETS}/a") == (500, internal(why))
        assert await ask(api, "DELETE", f"{SECRETS}/a") == (500, internal(why))
        assert await ask(api, "PUT", f"{SECRETS}/a", {"metadata": {"name": "a"}}) == (500, internal(SEALED))
        status, listed = await ask(api, "GET", SECRETS)
        assert (status, listed["reason"]) == (500, "StorageReadError")
        assert listed["message"] == "failed to read one or more secrets from the storage"
        places = [f"/registry/secrets/default/{name}" for name in "ab"]
        causes = [
            {"reason": "UnexpectedServerResponse", "message": corrupt(place, SEALED), "field": place}
            for place in places
        ]
        assert listed["details"] == {"name": "list", "kind": "secrets", "causes": causes}
        assert (await ask(api, "GET", SECRETS, params={"watch": "1"}))[1]["reason"] == "StorageReadError"
        deleted = await ask(api, "DELETE", f"{SECRETS}/a", params={OPTION: "true"})
        status_body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        assert deleted == (200, status_body | {"details": {"name": "a", "kind": "Secret"}, "code": 200})
        assert (await ask(api, "GET", f"{SECRETS}/a"))[0] == 404
        assert (await ask(api, "DELETE", f"{SECRETS}/b", {OPTION: True}))[0] == 200
        assert (await get(api, SECRETS))["items"] == []
        await post(api, SECRETS, {"metadata": {"name": "a"}})
    async with serving(**flags) as api:
        assert [item["metadata"]["name"] for item in (await get(api, SECRETS))["items"]] == ["a"]


async def test_what_can_be_read_is_deleted_as_usual(tmp_path: Path) -> None:
    """DEL-09; kube-apiserver 1.36 refuses it with 422."""
    async with serving(**await lost(tmp_path)) as api:
        await post(api, SECRETS, {"metadata": {"name": "held", "finalizers": ["a/b"]}})
        status, held = await ask(api, "DELETE", f"{SECRETS}/held", params={OPTION: "true"})
        assert status == 200
        assert held["metadata"]["deletionTimestamp"]
        assert (await ask(api, "DELETE", f"{SECRETS}/absent", params={OPTION: "true"}))[0] == 404
        status, refused = await ask(api, "DELETE", f"{NAMESPACE}", params={OPTION: "true"})
        assert (status, refused["message"]) == (
            500,
            f"Internal error occurred: no unsafe deleter provided, can not honor {OPTION}",
        )


async def test_without_the_gate_the_option_means_nothing(tmp_path: Path) -> None:
    flags = await lost(tmp_path, "a") | {"feature_gates": {}}
    async with serving(**flags) as api:
        why = f'unable to transform key "/registry/secrets/default/a": {AES}'
        assert await ask(api, "GET", SECRETS) == (500, internal(why))
        for method, path in (("GET", f"{SECRETS}/a"), ("DELETE", f"{SECRETS}/a?{OPTION}=true")):
            assert await ask(api, method, path) == (500, internal(AES))


async def test_more_than_a_hundred_are_too_many_to_name(tmp_path: Path) -> None:
    names = [f"s{n:03}" for n in range(101)]
    async with serving(**await lost(tmp_path, *names)) as api:
        causes = (await ask(api, "GET", SECRETS))[1]["details"]["causes"]
        assert [cause["field"] for cause in causes[:-1]] == [f"/registry/secrets/default/{n}" for n in names[:100]]
        assert causes[-1] == {"reason": "FieldValueTooMany", "message": "too many errors, the list is truncated"}


async def test_it_needs_a_right_of_its_own(tmp_path: Path) -> None:
    async with guarded(tmp_path, feature_gates=GATE) as server:
        path = f"{SECRETS}/a?{OPTION}=true"

        async def allow(*verbs: str) -> None:
            body = {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": verbs}]}
            await server.ask("admin", "DELETE", f"{RBAC}/clusterroles/r")
            assert (await server.ask("admin", "POST", f"{RBAC}/clusterroles", body))[0] == 201

        subject = {"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}
        ref = {"kind": "ClusterRole", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}
        binding = {"metadata": {"name": "b"}, "subjects": [subject], "roleRef": ref}
        assert (await server.ask("admin", "POST", f"{RBAC}/clusterrolebindings", binding))[0] == 201
        await allow("delete")
        status, refused = await server.ask("bob", "DELETE", path)
        why = 'not permitted to do "unsafe-delete-ignore-read-errors", reason: '
        assert (status, refused["message"]) == (403, f'secrets "a" is forbidden: {why}')
        await allow("delete", "unsafe-delete-ignore-read-errors")
        assert (await server.ask("bob", "DELETE", path))[0] == 404


@pytest.mark.program("etcd")
@pytest.mark.parametrize("encrypted", [False, True])
async def test_bytes_that_are_no_object_can_be_deleted_from_etcd(
    etcd: Etcd, tmp_path: Path, *, encrypted: bool
) -> None:
    prefix = f"/{uuid4()}"
    flags: dict[str, Any] = {"etcd_servers": Texts((etcd.url,)), "etcd_prefix": prefix, "feature_gates": GATE}
    if encrypted:
        flags["encryption_provider_config"] = await keyed(tmp_path, "a")

    async def put(key: str, value: bytes) -> int:
        body = {"key": b64encode(f"{prefix}{key}".encode()).decode(), "value": b64encode(value).decode()}
        answer = await asyncio.to_thread(etcd.call, "kv/put", json.dumps(body).encode())
        return int(json.loads(answer)["header"]["revision"])

    async with serving(**flags) as api, serving(**flags) as other:
        for path in (MAPS, SECRETS):
            await post(api, path, {"metadata": {"name": "good"}})
        await post(other, MAPS, {"metadata": {"name": "x", "finalizers": ["e.com/kept"]}})
        revision = await put("/configmaps/default/x", b"{nojson")
        await put("/secrets/default/s", b"k8s:enc:aescbc:v1:gone:" + bytes(48))
        status, found = await ask(api, "GET", f"{MAPS}/x")
        start = corrupt("/configmaps/default/x", f"object not decodable revision={revision}: ")
        assert (status, found["reason"]) == (500, "InternalError")
        assert found["message"].startswith(f"Internal error occurred: {start}")
        why = AES if encrypted else "identity transformer tried to read encrypted data"
        sealed = f"data from the storage is not transformable revision=0: {why}"
        assert (await ask(api, "GET", f"{SECRETS}/s"))[1] == internal(corrupt("/secrets/default/s", sealed))
        for path in (MAPS, SECRETS):
            status, found = await ask(other, "GET", path)
            assert (status, found["reason"], len(found["details"]["causes"])) == (500, "StorageReadError", 1)
        assert (await ask(api, "POST", MAPS, {"metadata": {"name": "x"}}))[0] == 409
        for path, name in ((MAPS, "x"), (SECRETS, "s")):
            assert (await ask(api, "DELETE", f"{path}/{name}", params={OPTION: "true"}))[0] == 200
            for server in (api, other):
                assert (await ask(server, "GET", f"{path}/{name}"))[0] == 404
                assert [item["metadata"]["name"] for item in (await get(server, path))["items"]] == ["good"]
        await post(other, MAPS, {"metadata": {"name": "x"}})
