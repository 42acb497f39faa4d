"""Logins by tokens of issuers and of a webhook, with real servers of both."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from yarl import URL

from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.conftest import command
from tests.issuers import EC, RSA, STRAY, Outside, outside, public, signed

ME = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
HEAD = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration"}
ROOT = {"Authorization": "Bearer root-token"}
Object = dict[str, Any]


@pytest.fixture
async def helper(tmp_path: Path) -> AsyncIterator[Outside]:
    async with outside(tmp_path) as found:
        yield found


@asynccontextmanager
async def serving(folder: Path, **flags: Any) -> AsyncIterator[tuple[Server, aiohttp.ClientSession]]:
    tokens = await asyncio.to_thread(stored, folder / "tokens.csv", b"root-token,root,,system:masters\n")
    server = Server(Config(port=0, authorization_mode=Texts(("RBAC",)), token_auth_file=tokens, **flags))
    await server.start()
    try:
        async with aiohttp.ClientSession(server.url) as session:
            yield server, session
    finally:
        await server.stop()


async def user(session: aiohttp.ClientSession, token: str) -> Object | None:
    """Return the user of a token; None for a 401."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    async with session.post(ME, json=body, headers={"Authorization": f"Bearer {token}"}) as answer:
        assert answer.status in (201, 401)
        found = await answer.json()
    return found["status"]["userInfo"] if answer.status == 201 else None


async def name(session: aiohttp.ClientSession, token: str) -> str:
    """Return the name of the user of a token; empty for a 401."""
    found = await user(session, token)
    return found["username"] if found else ""


async def named(server: Server, session: aiohttp.ClientSession, token: str, wanted: str) -> None:
    """Wait until a token gives a name: the keys of its issuer are fetched beside requests."""
    for _ in range(500):
        if await name(session, token) == wanted:
            return
        await server.app.core.clock.machine.sleep(0.02)
    raise AssertionError(f"{wanted} never logs in")


def issuer(helper: Outside, at: str, prefix: str, **more: Any) -> Object:
    authority = helper.authority.certificate.decode()
    trusted = {"url": f"{helper.url}/{at}", "certificateAuthority": authority, "audiences": ["cluster"]}
    return {"issuer": trusted | more, "claimMappings": {"username": {"claim": "sub", "prefix": prefix}}}


def token(server: Server, helper: Outside, at: str, sub: str = "jane", **more: Any) -> str:
    now = server.app.core.clock.seconds()
    key, algorithm = more.pop("key", RSA), more.pop("algorithm", "RS256")
    return signed({"iss": f"{helper.url}/{at}", "aud": "cluster", "sub": sub, "exp": now + 600} | more, key, algorithm)


def stored(path: Path, value: object) -> str:
    path.write_bytes(value if isinstance(value, bytes) else orjson.dumps(value))
    return str(path)


async def written(folder: Path, *jwt: Object, **more: Any) -> str:
    document = {**HEAD, "jwt": list(jwt), **more}
    return await asyncio.to_thread(stored, folder / "authentication.yaml", document)


async def test_flags_of_one_issuer(helper: Outside, tmp_path: Path) -> None:
    ca, url = str(tmp_path / "ca.crt"), f"{helper.url}/one"
    async with serving(tmp_path, oidc_issuer_url=url, oidc_client_id="cluster", oidc_ca_file=ca) as (server, session):
        await named(server, session, token(server, helper, "one"), f"{url}#jane")
        for bad in (
            token(server, helper, "one", exp=server.app.core.clock.seconds() - 1),
            token(server, helper, "one", nbf=server.app.core.clock.seconds() + 400),
            token(server, helper, "one", aud="other"),
            token(server, helper, "one", key=STRAY),
            token(server, helper, "two"),
            token(server, helper, "one", algorithm="RS384"),
            token(server, helper, "one", key=EC, algorithm="ES256"),
            token(server, helper, "one")[:-6],
            "a.b.c",
            "..",
        ):
            assert await name(session, bad) == ""
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"}
        spec = {"token": token(server, helper, "one", exp=1)}
        async with session.post(REVIEWS, json=review | {"spec": spec}, headers=ROOT) as answer:
            shown = await answer.text()
        assert spec["token"] not in shown.partition('"status"')[2] and "token is expired" in shown
        async with session.get("/metrics", headers=ROOT) as answer:
            text = await answer.text()
        assert "apiserver_authentication_jwt_authenticator_latency_seconds_count{" in text
        assert helper.url not in text and "jane" not in text


async def test_a_key_of_one_issuer_signs_nothing_for_another(helper: Outside, tmp_path: Path) -> None:
    """Keys are confused neither by their ids nor by the names in a token."""
    helper.by_issuer = {"one": [public(RSA)], "two": [public(STRAY)]}
    path = await written(tmp_path, issuer(helper, "one", "1:"), issuer(helper, "two", "2:"))
    async with serving(tmp_path, authentication_config=path) as (server, session):
        await named(server, session, token(server, helper, "one"), "1:jane")
        await named(server, session, token(server, helper, "two", key=STRAY), "2:jane")
        assert await name(session, token(server, helper, "one", "eve", key=STRAY)) == ""
        assert await name(session, token(server, helper, "two", "eve")) == ""
        assert await name(session, token(server, helper, "one", "jo")) == "1:jo"


async def test_redirects_are_not_followed(helper: Outside, tmp_path: Path) -> None:
    path = await written(tmp_path, issuer(helper, "redirect", "r:"), issuer(helper, "one", "1:"))
    async with serving(tmp_path, authentication_config=path) as (server, session):
        await named(server, session, token(server, helper, "one"), "1:jane")
        assert await name(session, token(server, helper, "redirect")) == ""
    assert "/redirect/.well-known/openid-configuration" in helper.asked


async def test_an_issuer_that_is_away_delays_neither_start_nor_others(helper: Outside, tmp_path: Path) -> None:
    gone = issuer(helper, "one", "1:")
    gone["issuer"]["discoveryURL"] = "https://127.0.0.1:1/gone"
    untrusted = issuer(helper, "two", "2:", certificateAuthority=None)
    path = await written(tmp_path, gone, untrusted, issuer(helper, "three", "3:"))
    async with serving(tmp_path, authentication_config=path) as (server, session):
        await named(server, session, token(server, helper, "three"), "3:jane")
        assert await name(session, token(server, helper, "one")) == ""
        assert await name(session, token(server, helper, "two")) == ""


async def test_new_content_of_the_file(helper: Outside, tmp_path: Path) -> None:
    path = await written(tmp_path, issuer(helper, "one", "first:"), anonymous={"enabled": False})
    async with serving(tmp_path, authentication_config=path) as (server, session):
        text = token(server, helper, "one")
        await named(server, session, text, "first:jane")
        await written(tmp_path, issuer(helper, "one", "second:"), anonymous={"enabled": False})
        await named(server, session, text, "second:jane")
        reloads = server.app.authentication._jwt
        assert reloads is not None and reloads.reloads is not None

        async def failures(count: int) -> None:
            for _ in range(500):
                async with session.get("/metrics", headers=ROOT) as answer:
                    if f'status="failure"}} {count}\n' in await answer.text():
                        return
                await server.app.core.clock.machine.sleep(0.02)
            raise AssertionError(f"failure {count} is not counted")

        await asyncio.to_thread(stored, Path(path), b"{not yaml")
        await failures(1)
        await written(tmp_path, issuer(helper, "one", "third:"), anonymous={"enabled": True})
        await failures(2)
        await asyncio.to_thread(os.unlink, path)
        await failures(3)
        assert await name(session, text) == "second:jane"
        async with session.get("/livez") as answer:
            assert answer.status == 401


async def test_anonymous_requests_to_listed_paths_only(tmp_path: Path) -> None:
    conditions = [{"path": "/livez"}, {"path": "/api/v1/namespaces/default"}]
    path = await written(tmp_path, anonymous={"enabled": True, "conditions": conditions})
    async with serving(tmp_path, authentication_config=path) as (_, session):
        good = ("/livez", "/livez?verbose", "/%6civez", "/api/v1/namespaces/default")
        bad = ("/livez/", "/readyz", "/", "//livez", "/livez%2f", "/api/v1/namespaces", "/LIVEZ", "/livez/../version")
        for target in (*good, *bad):
            url = URL(f"{session._base_url}".rstrip("/") + target, encoded=True)
            async with session.get(url) as answer:
                assert (answer.status == 401) is (target in bad), target
        async with session.get("/livez", headers={"Authorization": "Bearer wrong"}) as answer:
            assert answer.status == 401


async def test_a_webhook(helper: Outside, tmp_path: Path) -> None:
    cluster = {"server": f"{helper.url}/review", "certificate-authority": str(tmp_path / "ca.crt")}
    config = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "ours"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    hook = await asyncio.to_thread(stored, tmp_path / "hook", config)
    async with serving(tmp_path, authentication_token_webhook_config_file=hook) as (_, session):
        found = await user(session, "known")
        assert found == {"username": "hooked", "groups": ["system:authenticated"]}
        assert await user(session, "unknown") is None
        assert [review["spec"]["token"] for review in helper.reviews] == ["known", "unknown"]
        assert helper.reviews[0]["apiVersion"] == "authentication.k8s.io/v1beta1"


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (["--oidc-client-id=c"], "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags"),
        (
            ["--oidc-client-id=c", "--authentication-config=x"],
            "authentication-config file and oidc-* flags are mutually",
        ),
        (
            ["--oidc-client-id=c", "--oidc-issuer-url=https://i", "--oidc-signing-algs=HS256"],
            'oidc: unsupported signing alg: "HS256"',
        ),
        (
            ["--oidc-client-id=c", "--oidc-issuer-url=https://i", "--service-account-issuer=https://i"],
            "URL must not overlap with disallowed issuers: [https://i]",
        ),
        (["--authentication-config=/missing/file"], "no such file or directory"),
        (["--authentication-token-webhook-config-file=/missing/file"], "no such file or directory"),
        (
            ["--anonymous-auth=true", "--authentication-config=FILE"],
            "--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration",
        ),
    ],
)
def test_refusals_at_start_are_one_line(flags: list[str], line: str, tmp_path: Path) -> None:
    path = stored(tmp_path / "file", {**HEAD, "anonymous": {"enabled": True}})
    given = [flag.replace("FILE", path) for flag in flags]
    done = subprocess.run(command("serve", "--port", "0", *given), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert line in done.stderr and done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
