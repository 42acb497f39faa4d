"""Callers of a gateway: nobody has more rights through it than at the upstream itself."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.secure import make
from tests.api.upstreams import Pair, pair, until

CORE = "/api/v1/namespaces/default"
ME = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
USERS = "root-token,root,1,system:masters\ngateway-token,gateway,2\nann-token,ann,3,blue\nbob-token,bob,4\n"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES = {
    # What the roles of the chart allow.
    "gateway": [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["users", "groups", "serviceaccounts"], "verbs": ["impersonate"]},
        {"apiGroups": ["authentication.k8s.io"], "resources": ["uids", "userextras/*"], "verbs": ["impersonate"]},
    ],
    "ann": [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "create"]},
        {"apiGroups": [""], "resources": ["users"], "resourceNames": ["bob"], "verbs": ["impersonate"]},
    ],
}


async def guarded(folder: Path) -> Config:
    """Return the settings of a server with tokens and roles."""
    tokens = folder / "tokens.csv"
    await asyncio.to_thread(tokens.write_text, USERS)
    return Config(port=0, token_auth_file=str(tokens), authorization_mode=Texts(("RBAC",)))


async def grant(found: Pair) -> None:
    """Give the gateway and a user their roles."""
    async with aiohttp.ClientSession(found.upstream.url, headers=as_user("root")) as session:
        for name, rules in ROLES.items():
            role = {"metadata": {"name": name}, "rules": rules}
            binding = {
                "metadata": {"name": name},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}],
            }
            for path, made in (("clusterroles", role), ("clusterrolebindings", binding)):
                async with session.post(f"{RBAC}/{path}", json=made) as answer:
                    assert answer.status == 201, await answer.text()
        async with session.post(f"{CORE}/configmaps", json={"metadata": {"name": "a"}}) as answer:
            assert answer.status == 201


@pytest.fixture
async def both(tmp_path: Path) -> AsyncIterator[Pair]:
    async with pair(tmp_path, await guarded(tmp_path), token="root-token") as found:
        await grant(found)
        yield found


def as_user(name: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}-token"} | {key.replace("_", "-"): value for key, value in more.items()}


async def status(session: aiohttp.ClientSession, path: str, headers: dict[str, str] | None = None) -> int:
    async with session.get(path, headers=headers) as answer:
        await answer.read()
        return answer.status


async def who(session: aiohttp.ClientSession, headers: dict[str, str] | None = None) -> str:
    """Return the user that the upstream sees, or the status of its refusal."""
    async with session.post(ME, json=REVIEW, headers=headers) as answer:
        body = await answer.json()
    return str(body["status"]["userInfo"]["username"]) if answer.status == 201 else str(answer.status)


MAPS = f"{CORE}/configmaps"
READS = (MAPS, f"{MAPS}?resourceVersion=0", f"{MAPS}/a", f"{MAPS}/a?resourceVersion=0", "/api/v1/configmaps")
SECRETS = ("/api/v1/secrets", "/api/v1/secrets?resourceVersion=0", f"{CORE}/secrets?resourceVersion=0")


async def test_each_read_is_refused_as_at_the_upstream(both: Pair) -> None:
    async with aiohttp.ClientSession(both.gateway.url) as here, aiohttp.ClientSession(both.upstream.url) as there:
        for path in (*READS, *SECRETS):
            for headers in (
                {},
                as_user("ann"),
                as_user("bob"),
                as_user("root"),
                as_user("nobody"),
                {"Authorization": "Basic " + base64.b64encode(b"root:root").decode()},
                {"X-Remote-User": "root", "X-Remote-Group": "system:masters"},
                as_user("bob", Impersonate_User="root", Impersonate_Group="system:masters"),
                as_user("ann", Impersonate_User="root"),
                as_user("ann", Impersonate_User="bob"),
                as_user("root", Impersonate_User="ann"),
                {"Impersonate-User": "root"},
            ):
                async with here.get(path, headers=headers) as one, there.get(path, headers=headers) as other:
                    assert one.status == other.status, (path, headers)
                    if one.status != 200:
                        assert await one.read() == await other.read(), (path, headers)


async def test_reads_with_a_right_are_answered_here(both: Pair) -> None:
    async with aiohttp.ClientSession(both.gateway.url, headers=as_user("ann")) as session:
        for _ in range(5):
            assert await status(session, f"{MAPS}?resourceVersion=0") == 200
    assert len(both.asked("POST /apis/authentication.k8s.io/v1/tokenreviews")) == 1
    assert len(both.asked("POST /apis/authorization.k8s.io/v1/subjectaccessreviews")) == 1
    assert both.asked("resourceVersion=0") == []


async def test_no_identity_but_the_own_one_reaches_the_upstream(both: Pair) -> None:
    async with aiohttp.ClientSession(both.gateway.url) as session:
        assert await who(session) == "403", "it is nobody"
        assert await who(session, as_user("ann")) == "ann"
        assert await who(session, as_user("ann", X_Remote_User="root", X_Remote_Group="system:masters")) == "ann"
        assert await who(session, {"X-Remote-User": "root"}) == "403"
        assert await who(session, as_user("root", Impersonate_User="ann")) == "ann"
        assert await who(session, as_user("ann", Impersonate_User="root")) == "403"
        assert await who(session, as_user("bad")) == "401"


async def test_a_right_that_is_taken_away_ends_soon(tmp_path: Path) -> None:
    given = await guarded(tmp_path)
    async with pair(tmp_path, given, token="root-token", upstream_authorization_cache=0.0) as both:
        await grant(both)
        async with (
            aiohttp.ClientSession(both.gateway.url, headers=as_user("ann")) as ann,
            aiohttp.ClientSession(both.upstream.url, headers=as_user("root")) as root,
        ):
            assert await status(ann, f"{MAPS}?resourceVersion=0") == 200
            async with root.delete(f"{RBAC}/clusterrolebindings/ann") as answer:
                assert answer.status == 200
            assert await status(ann, f"{MAPS}?resourceVersion=0") == 403


async def test_metrics_need_a_right(both: Pair) -> None:
    async with aiohttp.ClientSession(both.gateway.url) as session:
        assert await status(session, "/metrics") == 403
        assert await status(session, "/metrics", as_user("ann")) == 403
        assert await status(session, "/metrics", as_user("root")) == 200
        assert await status(session, "/readyz") == 200


async def test_users_of_certificates_are_impersonated(tmp_path: Path) -> None:
    made = await asyncio.to_thread(make, tmp_path / "pki")
    pairs = {
        name: await asyncio.to_thread(made.pair, name, [], (name, group))
        for name, group in (("ann", "blue"), ("bob", ""), ("boss", "system:masters"))
    }
    flags = {
        "tls_cert_file": made.cert,
        "tls_private_key_file": made.key,
        "client_ca_file": str(made.folder / "ca.crt"),
    }
    async with pair(tmp_path, await guarded(tmp_path), token="gateway-token", **flags) as both:
        await grant(both)

        async def asks(name: str, path: str, **headers: str) -> str:
            context: ssl.SSLContext = await asyncio.to_thread(made.client)
            if name:
                await asyncio.to_thread(context.load_cert_chain, *pairs[name])
            connector = aiohttp.TCPConnector(ssl=context)
            given = {key.replace("_", "-"): value for key, value in headers.items()}
            async with aiohttp.ClientSession(both.gateway.url, connector=connector) as session:
                return await who(session, given) if path == ME else str(await status(session, path, given))

        assert await asks("ann", ME) == "ann"
        assert await asks("bob", ME) == "bob"
        assert await asks("", ME) == "403"
        assert await asks("ann", ME, Authorization="Bearer bob-token") == "ann", "the certificate comes first"
        assert await asks("ann", f"{MAPS}?resourceVersion=0") == "200"
        assert await asks("bob", f"{MAPS}?resourceVersion=0") == "403"
        assert await asks("bob", ME, Impersonate_User="root") == "403"
        assert await asks("ann", ME, Impersonate_User="bob") == "bob"
        assert await asks("ann", f"{MAPS}?resourceVersion=0", Impersonate_User="bob") == "403"
        assert await asks("bob", ME, X_Remote_User="root") == "bob"
        assert await asks("boss", "/api/v1/secrets?resourceVersion=0") == "200"


CERTIFIED = """
apiVersion: v1
kind: Config
current-context: it
contexts: [{{name: it, context: {{cluster: it, user: it}}}}]
clusters: [{{name: it, cluster: {{server: "{url}", certificate-authority: "{ca}"}}}}]
users: [{{name: it, user: {{client-certificate: "{cert}", client-key: "{key}"}}}}]
"""


async def test_the_certificate_of_the_gateway_is_nobody_else_s(tmp_path: Path) -> None:
    """A caller's request is on a connection that presents none: the upstream would take it for the gateway's."""
    made = await asyncio.to_thread(make, tmp_path / "pki")
    cert, key = await asyncio.to_thread(made.pair, "boss", [], ("boss", "system:masters"))
    authority = str(made.folder / "ca.crt")
    upstream = Server(
        Config(
            port=0,
            tls_cert_file=made.cert,
            tls_private_key_file=made.key,
            client_ca_file=authority,
            authorization_mode=Texts(("RBAC",)),
        )
    )
    await upstream.start()
    file = tmp_path / "upstream.yaml"
    text = CERTIFIED.format(url=upstream.url, ca=authority, cert=cert, key=key)
    await asyncio.to_thread(file.write_text, text)
    gateway = Server(Config(port=0, upstream=str(file)))
    await gateway.start()
    assert gateway.app.core.storage.problem() == ""
    async with aiohttp.ClientSession(gateway.url) as session:
        for path in ("/api/v1/secrets", "/api/v1/secrets?resourceVersion=0", "/api/v1/secrets?watch=1"):
            assert await status(session, path) == 403
            assert await status(session, path, {"Authorization": "Bearer bad"}) == 401
            assert await status(session, path, {"Impersonate-User": "boss"}) == 403
        assert await who(session) == "403"
        async with session.post(f"{CORE}/configmaps", json={"metadata": {"name": "a"}}) as answer:
            assert answer.status == 403
        upgrade = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1"}
        async with session.post(f"{CORE}/pods/p/exec?command=sh", headers=upgrade) as answer:
            assert answer.status == 403
    await gateway.stop()
    await upstream.stop()


async def test_while_the_upstream_is_away_only_known_callers_are_answered(tmp_path: Path) -> None:
    given = await guarded(tmp_path)
    async with (
        pair(tmp_path, given, token="root-token", upstream_authorization_cache=0.001) as both,
        aiohttp.ClientSession(both.gateway.url) as here,
    ):
        await grant(both)
        path = f"{MAPS}?resourceVersion=0"
        assert await status(here, path, as_user("ann")) == 200
        assert await status(here, path, as_user("bob")) == 403
        both.between.refuse()
        await until(both.gateway.app.core.storage.problem)
        assert await status(here, path, as_user("ann")) == 200
        for headers in ({}, as_user("bob"), as_user("root"), as_user("nobody")):
            assert await status(here, path, headers) == 503
        assert await status(here, "/api/v1/secrets?resourceVersion=0", as_user("ann")) == 503
        # What was known of her for another request is no right to this one.
        assert await status(here, "/api/v1/pods?resourceVersion=0", as_user("ann")) == 503
