"""The user of a request: each way around the credentials is refused, beside the same request allowed."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server, StartError

ME = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
BODY = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
PREFIX = "base64url.bearer.authorization.k8s.io."
JSON = {"Content-Type": "application/json"}
Json = dict[str, Any]


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Server]:
    """A server that asks for tokens."""
    tokens = tmp_path / "tokens.csv"
    await asyncio.to_thread(tokens.write_text, "root-token,root,1,system:masters\nann-token,ann,2,blue\n")
    server = Server(Config(port=0, token_auth_file=str(tokens)))
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def client(guarded: Server) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(guarded.url, headers=JSON) as session:
        yield session


async def who(client: aiohttp.ClientSession, *values: str) -> str:
    """Return the name of a request with these Authorization headers, or the status of its refusal."""
    headers = [("Content-Type", "application/json"), *(("Authorization", value) for value in values)]
    async with client.post(ME, json=BODY, headers=headers) as response:
        body = await response.json()
    return str(body["status"]["userInfo"]["username"]) if response.status == 201 else str(response.status)


async def test_case_of_the_scheme_and_of_the_token(client: aiohttp.ClientSession) -> None:
    """RFC 9110: schemes have no case, tokens do."""
    assert await who(client, "Bearer ann-token") == "ann"
    assert await who(client, "bEARER ann-token") == "ann"
    assert await who(client, "Bearer ANN-token") == "401"
    assert await who(client, "Bearer ann-toke") == "401"
    assert await who(client, "Bearer ann-tokenx") == "401"


async def test_several_authorization_headers(client: aiohttp.ClientSession) -> None:
    """Only the first one counts, as in Go."""
    assert await who(client, "Bearer ann-token", "Bearer root-token") == "ann"
    assert await who(client, "Bearer wrong", "Bearer root-token") == "401"
    # system:anonymous, which may not create reviews.
    assert await who(client, "Basic YTpi", "Bearer root-token") == "403"
    assert await who(client, "", "Bearer root-token") == "403"


async def test_a_kept_login_is_that_of_the_whole_token(client: aiohttp.ClientSession) -> None:
    for _ in range(3):
        assert await who(client, "Bearer root-token") == "root"
        assert await who(client, "Bearer root-token2") == "401"
        assert await who(client, "Bearer ann-token") == "ann"


async def test_refusals_name_no_credential(client: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture) -> None:
    async with client.get("/api/v1/pods", headers={"Authorization": "Bearer hidden-value"}) as response:
        text = await response.text()
        assert response.status == 401
        assert "WWW-Authenticate" not in response.headers
    assert "hidden-value" not in text
    assert "hidden-value" not in caplog.text
    async with client.get("/metrics", headers={"Authorization": "Bearer root-token"}) as response:
        assert "root-token" not in await response.text()


async def test_a_proxys_headers_without_its_certificate(client: aiohttp.ClientSession) -> None:
    headers = {"X-Remote-User": "root", "X-Remote-Group": "system:masters", "X-Forwarded-User": "root"}
    async with client.get("/api/v1/namespaces", headers=headers) as response:
        assert response.status == 403
        assert "system:anonymous" in (await response.json())["message"]
    async with client.get("/api/v1/namespaces", headers={"Authorization": "Bearer root-token"}) as response:
        assert response.status == 200


async def test_tokens_elsewhere_than_in_the_header(client: aiohttp.ClientSession) -> None:
    for path in ("/api/v1/pods?access_token=root-token", "/api/v1/pods?token=root-token"):
        async with client.get(path, headers={"Cookie": "token=root-token", "Token": "root-token"}) as response:
            assert response.status == 403


async def test_huge_tokens(client: aiohttp.ClientSession) -> None:
    """A token as long as a head is refused like any other, and cheaply."""
    part = base64.urlsafe_b64encode(b'{"alg":"ES256"}').decode().rstrip("=")
    for token in ("x" * 60_000, "." * 60_000, f"{part}.{'A' * 50_000}.{'A' * 9_000}", f"{part}.{part}.{part}"):
        assert await who(client, f"Bearer {token}") == "401"
    assert await who(client, "Bearer ann-token") == "ann"


def protocol(token: str) -> str:
    return PREFIX + base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


async def test_tokens_of_websockets(client: aiohttp.ClientSession) -> None:
    """A token among the subprotocols is taken off before one is chosen."""
    path = "/api/v1/configmaps?watch=1&timeoutSeconds=1"
    for protocols in (
        (protocol("root-token"), "base64.binary.k8s.io"),
        ("base64.binary.k8s.io", protocol("root-token")),
    ):
        async with client.ws_connect(path, protocols=protocols) as socket:
            assert socket.protocol == "base64.binary.k8s.io"
    bad: tuple[tuple[tuple[str, ...], int], ...] = (
        ((protocol("wrong"), "base64.binary.k8s.io"), 401),
        ((protocol("root-token"),), 401),
        ((protocol("root-token"), protocol("root-token"), "base64.binary.k8s.io"), 401),
        (("base64.binary.k8s.io",), 403),
        ((PREFIX, "base64.binary.k8s.io"), 403),
    )
    for wrong, status in bad:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with client.ws_connect(path, protocols=wrong):
                pass
        assert refused.value.status == status
    headers = {"Sec-WebSocket-Protocol": f"{protocol('root-token')}, a"}
    async with client.get("/api/v1/configmaps", headers=headers) as response:
        assert response.status == 403, "without an upgrade it is no WebSocket"


async def test_a_token_of_a_websocket_is_not_echoed(client: aiohttp.ClientSession) -> None:
    """A header counts before a subprotocol, which is not repeated either."""
    path = "/api/v1/configmaps?watch=1&timeoutSeconds=1"
    protocols = (protocol("ann-token"), "base64.binary.k8s.io")
    headers = {"Authorization": "Bearer root-token"}
    async with client.ws_connect(path, protocols=protocols, headers=headers) as socket:
        assert socket.protocol == "base64.binary.k8s.io"


async def test_anonymous_requests_may_be_switched_off(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.csv"
    await asyncio.to_thread(tokens.write_text, "t,ann,1\n")
    for more in ({"anonymous_auth": False}, {"authorization_mode": ("AlwaysAllow",)}):
        server = Server(Config(port=0, token_auth_file=str(tokens), **more))
        url = await server.start()
        try:
            async with aiohttp.ClientSession(url, headers=JSON) as session:
                for path in ("/version", "/livez", "/api/v1/pods", "/made/up"):
                    async with session.get(path) as response:
                        assert response.status == 401, path
                async with session.get("/version", headers={"Authorization": "Bearer t"}) as response:
                    assert response.status == 200
        finally:
            await server.stop()


async def test_without_credentials_everybody_is_the_admin() -> None:
    server = Server(Config(port=0))
    url = await server.start()
    try:
        async with aiohttp.ClientSession(url, headers=JSON) as session:
            for values in ((), ("Bearer admin",), ("Bearer a.b.c",), ("Basic YTpi",)):
                assert await who(session, *values) == "admin"
    finally:
        await server.stop()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"client_ca_file": "/nonexistent"}, "open /nonexistent: no such file or directory"),
        ({"token_auth_file": "/nonexistent"}, "open /nonexistent: no such file or directory"),
        ({"service_account_key_files": ("/nonexistent",)}, "open /nonexistent: no such file or directory"),
        ({"service_account_signing_key_file": "/nonexistent"}, "open /nonexistent: no such file or directory"),
        ({"service_account_max_token_expiration": 60.0}, "must be between 1 hour and 2^32 seconds"),
        ({"service_account_jwks_uri": "http://a/b"}, "requires https scheme, parsed as: http://a/b"),
        ({"service_account_issuers": ("a", "a")}, 'service-account-issuer "a" is already specified'),
        ({"service_account_issuers": ("",)}, "should not be an empty string"),
        ({"requestheader_group_headers": (" ",)}, 'empty value in "requestheader-group-headers"'),
    ],
)
async def test_refusals_at_the_start(settings: Json, why: str) -> None:
    server = Server(Config(port=0, **settings))
    with pytest.raises(StartError, match=re.escape(why)):
        await server.start()


async def test_requests_for_logins_are_counted(client: aiohttp.ClientSession) -> None:
    for _ in range(3):
        assert await who(client, "Bearer ann-token") == "ann"
    assert await who(client, "Bearer nobody") == "401"
    async with client.get("/metrics", headers={"Authorization": "Bearer root-token"}) as response:
        lines = (await response.text()).splitlines()
    for line in (
        'authentication_token_cache_request_total{status="hit"} 2',
        'authentication_token_cache_request_total{status="miss"} 3',
        'authentication_token_cache_fetch_total{status="ok"} 3',
        'authentication_token_cache_active_fetch_count{status="blocked"} 0',
        'authentication_token_cache_request_duration_seconds_count{status="miss"} 3',
        "apiserver_client_certificate_expiration_seconds_count 0",
    ):
        assert line in lines
