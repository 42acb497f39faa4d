"""Tokens of service accounts against live objects (`test/integration/auth/svcaccttoken_test.go`)."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import orjson
import pytest

from hydrofoil.authentication import cache
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

NS = "/api/v1/namespaces/default"
ME = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
Json = dict[str, Any]
SPEC: Json = {"containers": [{"name": "c", "image": "i"}], "serviceAccountName": "sa"}


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """A server that forgets logins at once; without controllers."""
    monkeypatch.setattr(cache, "SECONDS", 0)
    server = Server(Config(port=0, controllers=""))
    await server.start()
    yield server
    await server.stop()


async def send(api: aiohttp.ClientSession, method: str, path: str, body: Json | None = None, token: str = "") -> Json:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with api.request(method, path, json=body, headers=headers) as response:
        return {"code": response.status, "warning": response.headers.get("Warning", ""), **(await response.json())}


async def who(api: aiohttp.ClientSession, token: str) -> Json:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    found = await send(api, "POST", ME, body, token)
    return found["status"]["userInfo"] if found["code"] == 201 else {"refused": found["code"]}


async def review(api: aiohttp.ClientSession, token: str, *audiences: str) -> Json:
    spec = {"token": token, "audiences": list(audiences)}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
    found: Json = (await send(api, "POST", REVIEWS, body))["status"]
    return found


async def requested(api: aiohttp.ClientSession, account: str = "sa", **spec: Any) -> str:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    found = await send(api, "POST", f"{NS}/serviceaccounts/{account}/token", body)
    assert found["code"] == 201, found
    return str(found["status"]["token"])


def claims(token: str) -> Json:
    part = token.split(".")[1]
    found: Json = orjson.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


async def account(api: aiohttp.ClientSession, name: str = "sa") -> str:
    body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
    return str((await send(api, "POST", f"{NS}/serviceaccounts", body))["metadata"]["uid"])


async def test_a_token_is_its_account(api: aiohttp.ClientSession) -> None:
    uid = await account(api)
    user = await who(api, await requested(api))
    assert user["username"] == "system:serviceaccount:default:sa"
    assert user["uid"] == uid
    assert user["groups"] == ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
    assert list(user["extra"]) == ["authentication.kubernetes.io/credential-id"]


@pytest.mark.parametrize("kind", ["ServiceAccount", "Pod", "Secret", "Node"])
async def test_tokens_of_deleted_objects(kind: str, api: aiohttp.ClientSession) -> None:
    """A token ends with its account and with the object it is bound to, even when one of the same name follows."""
    await account(api)
    plural = {"ServiceAccount": "serviceaccounts", "Pod": "pods", "Secret": "secrets", "Node": "nodes"}[kind]
    where = f"/api/v1/{plural}" if kind == "Node" else f"{NS}/{plural}"
    name = "sa" if kind == "ServiceAccount" else "bound"
    body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}} | ({"spec": SPEC} if kind == "Pod" else {})
    spec: Json = {}
    if kind != "ServiceAccount":
        assert (await send(api, "POST", where, body))["code"] == 201
        spec = {"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": name}}
    token = await requested(api, **spec)
    assert (await who(api, token))["username"] == "system:serviceaccount:default:sa"
    assert (await review(api, token))["authenticated"]
    async with api.delete(f"{where}/{name}?gracePeriodSeconds=0"):
        pass
    assert await who(api, token) == {"refused": 401}
    assert (await send(api, "POST", where, body))["code"] == 201
    assert await who(api, token) == {"refused": 401}
    assert "authenticated" not in await review(api, token)


async def test_an_account_made_by_the_holder_of_its_name_only(api: aiohttp.ClientSession) -> None:
    """A token of one namespace is invalid in another."""
    await account(api)
    token = await requested(api)
    head, _, tail = token.split(".")
    changed = claims(token)
    changed["kubernetes.io"]["namespace"] = "kube-system"
    part = base64.urlsafe_b64encode(orjson.dumps(changed)).decode().rstrip("=")
    assert await who(api, f"{head}.{part}.{tail}") == {"refused": 401}
    assert (await who(api, token))["username"] == "system:serviceaccount:default:sa"


async def test_audiences(api: aiohttp.ClientSession, server: Server) -> None:
    await account(api)
    token = await requested(api, audiences=["vault", "db"])
    assert await who(api, token) == {"refused": 401}
    assert (await review(api, token, "db", "x", "vault"))["audiences"] == ["db", "vault"]
    why = (await review(api, token))["error"]
    assert why.startswith('[invalid bearer token, token audiences ["vault" "db"] is invalid for the target audiences')
    own = await requested(api)
    assert (await review(api, own))["audiences"] == [f"{server.url}/"]


async def test_the_tokens_of_pods_live_a_year(api: aiohttp.ClientSession) -> None:
    """3607 s, the server's own audiences and a pod."""
    await account(api)
    await send(api, "POST", f"{NS}/pods", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": SPEC})
    pod = {"kind": "Pod", "apiVersion": "v1", "name": "p"}
    for spec, seconds in (
        ({"expirationSeconds": 3607, "boundObjectRef": pod}, 31536000),
        ({"expirationSeconds": 3607}, 3607),
        ({"expirationSeconds": 3608, "boundObjectRef": pod}, 3608),
        ({"expirationSeconds": 3607, "boundObjectRef": pod, "audiences": ["vault"]}, 3607),
    ):
        found = claims(await requested(api, **spec))
        assert found["exp"] - found["iat"] == seconds
        assert ("warnafter" in found["kubernetes.io"]) is (seconds == 31536000)
    user = await who(api, await requested(api, boundObjectRef=pod))
    assert user["extra"]["authentication.kubernetes.io/pod-name"] == ["p"]


async def test_the_documents_of_the_issuer(api: aiohttp.ClientSession) -> None:
    await account(api)
    token = await requested(api)
    async with api.get("/openid/v1/jwks") as response:
        keys = orjson.loads(await response.read())["keys"]
        assert response.headers["Content-Type"] == "application/jwk-set+json"
        assert response.headers["Cache-Control"] == "public, max-age=3600"
    header = token.split(".")[0]
    assert orjson.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))["kid"] in {k["kid"] for k in keys}
    async with api.get("/.well-known/openid-configuration") as response:
        assert (await response.json())["id_token_signing_alg_values_supported"] == ["ES256"]
    for method, path, status in (
        ("POST", "/openid/v1/jwks", 405),
        ("GET", "/openid/v1/jwks/x", 404),
        ("GET", "/openid/v1", 404),
    ):
        async with api.request(method, path) as response:
            assert response.status == status


async def test_legacy_tokens_are_filled_in_and_end_with_their_secret() -> None:
    server = Server(Config(port=0, controllers="serviceaccount-token"))
    url = await server.start()
    try:
        async with aiohttp.ClientSession(url, headers={"Content-Type": "application/json"}) as api:
            await account(api)
            annotations = {"kubernetes.io/service-account.name": "sa"}
            meta = {"name": "kept", "annotations": annotations}
            body = {
                "apiVersion": "v1",
                "kind": "Secret",
                "type": "kubernetes.io/service-account-token",
                "metadata": meta,
            }
            await send(api, "POST", f"{NS}/secrets", body)
            held: Json = {}
            for _ in range(100):
                held = await send(api, "GET", f"{NS}/secrets/kept")
                if "token" in held.get("data", {}):
                    break
            token = base64.b64decode(held["data"]["token"]).decode()
            assert base64.b64decode(held["data"]["namespace"]) == b"default"
            assert (await who(api, token))["username"] == "system:serviceaccount:default:sa"
            assert (
                "kubernetes.io/legacy-token-last-used"
                in (await send(api, "GET", f"{NS}/secrets/kept"))["metadata"]["labels"]
            )
            async with api.delete(f"{NS}/serviceaccounts/sa"):
                pass
            for _ in range(100):
                if (await send(api, "GET", f"{NS}/secrets/kept"))["code"] == 404:
                    break
            assert (await send(api, "GET", f"{NS}/secrets/kept"))["code"] == 404
    finally:
        await server.stop()
