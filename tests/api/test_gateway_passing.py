"""What passes through a gateway: bytes as they are, streams piece by piece, upgrades."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import orjson
import pytest
from yarl import URL

import hydrofoil.audit.service  # noqa: F401 - pytest would rewrite it within the loop
from hydrofoil.clock import Clock
from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.upstreams import kubeconfig, pair, until

CORE = "/api/v1/namespaces/default"
EXEC = f"{CORE}/pods/p/exec?command=sh"


async def create(server: Server, name: str) -> int:
    """Create a config map; return its version."""
    body = {"metadata": {"name": name}}
    async with aiohttp.ClientSession(server.url) as session, session.post(f"{CORE}/configmaps", json=body) as answer:
        assert answer.status == 201
        return int((await answer.json())["metadata"]["resourceVersion"])


class Raw:
    """A server that answers one request as it is told to."""

    def __init__(self) -> None:
        self.head = b""
        """The request that it got."""
        self.more = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if b"/pods/p/" not in head:
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        elif b"upgrade" in head.lower():
            self.head = head
            writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
            while data := await reader.read(1024):
                writer.write(data.upper())
        else:
            self.head = head
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nTransfer-Encoding: chunked\r\nX-One: 1\r\n\r\n")
            writer.write(b"3\r\none\r\n")
            await self.more.wait()
            writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
        writer.close()


@asynccontextmanager
async def raw(folder: Path) -> AsyncIterator[tuple[Raw, Server]]:
    """Yield such a server, and a gateway before it."""
    found = Raw()
    server = await asyncio.start_server(found.answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    gateway = Server(Config(port=0, upstream=await kubeconfig(folder, f"http://127.0.0.1:{port}")))
    await gateway.start()
    yield found, gateway
    await gateway.stop()
    server.close()
    await server.wait_closed()


async def test_a_connection_is_upgraded(tmp_path: Path) -> None:
    async with raw(tmp_path) as (upstream, gateway):
        reader, writer = await asyncio.open_connection(*gateway.address)
        writer.write(
            f"POST {EXEC} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
            "Authorization: Bearer t\r\nX-Remote-User: root\r\n"
            "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n".encode()
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        for text in (b"one", b"two"):
            writer.write(text)
            assert await reader.readexactly(3) == text.upper()
        writer.close()
        lines = upstream.head.decode().split("\r\n")
        assert lines[0] == f"POST {EXEC} HTTP/1.1"
        assert "Authorization: Bearer t" in lines
        assert "X-Stream-Protocol-Version: v4.channel.k8s.io" in lines
        assert not any(line.lower().startswith("x-remote") for line in lines)


async def test_pieces_arrive_as_they_are_sent(tmp_path: Path) -> None:
    async with raw(tmp_path) as (upstream, gateway), aiohttp.ClientSession(gateway.url) as session:
        url = URL(f"{gateway.url}{CORE}/pods/p/log?follow=true&x=%2F+%20b", encoded=True)
        async with session.get(url) as answer:
            assert await answer.content.readexactly(3) == b"one"
            upstream.more.set()
            assert await answer.content.read() == b"two"
            assert (answer.headers["X-One"], answer.headers["Content-Type"]) == ("1", "text/x")
        assert upstream.head.startswith(f"GET {CORE}/pods/p/log?follow=true&x=%2F+%20b HTTP/1.1\r\n".encode())


async def test_versions_that_go_back_begin_the_view_anew(tmp_path: Path) -> None:
    """The upstream was restored from a backup, or is another one."""
    async with pair(tmp_path) as both, aiohttp.ClientSession(both.gateway.url) as here:
        version = await create(both.upstream, "a")
        watch = await here.get(f"{CORE}/configmaps?watch=1&resourceVersion={version}")
        clock = Clock()
        clock.freeze(datetime(2026, 2, 1, tzinfo=UTC))
        earlier = Server(Config(port=0, controllers=""), clock=clock)
        await earlier.start()
        assert await create(earlier, "b") < version
        both.between.refuse()
        await until(both.gateway.app.core.storage.problem)
        both.between.turn_to(earlier.url)
        await both.between.start()
        await until(lambda: not both.gateway.app.core.storage.problem())
        for path in (f"{CORE}/configmaps", f"{CORE}/configmaps?resourceVersion=0"):
            async with here.get(path) as answer:
                assert [item["metadata"]["name"] for item in (await answer.json())["items"]] == ["b"]
        async with asyncio.timeout(10):
            await watch.content.read()
        await earlier.stop()


async def test_resources_of_a_later_release_are_in_the_view(tmp_path: Path) -> None:
    claims = "/apis/resource.k8s.io/v1/deviceclasses"
    async with (
        pair(tmp_path, emulated_version=Texts(("1.33",))) as both,
        aiohttp.ClientSession(both.upstream.url) as there,
        aiohttp.ClientSession(both.gateway.url) as here,
    ):
        assert both.gateway.app.core.catalog.find("resource.k8s.io", "v1", "deviceclasses") is None
        async with there.post(claims, json={"metadata": {"name": "a"}, "spec": {}}) as answer:
            version = (await answer.json())["metadata"]["resourceVersion"]
        mirror = both.gateway.app.mirrors.get(("resource.k8s.io", "v1", "deviceclasses"))  # type: ignore[attr-defined]
        await until(lambda: mirror.collection.revision >= int(version))
        path = f"{claims}?resourceVersion={version}"
        async with here.get(path) as one, there.get(path) as other:
            found, wanted = orjson.loads(await one.read()), orjson.loads(await other.read())
        assert [item["spec"] for item in found["items"]] == [item["spec"] for item in wanted["items"]]
        assert both.asked(path) == []
        headers = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
        async with here.get(path, headers=headers) as one, there.get(path, headers=headers) as other:
            assert await one.read() == await other.read()


async def test_records_of_an_audit_have_the_callers(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    text = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"
    await asyncio.to_thread(policy.write_text, text)
    tokens = tmp_path / "tokens.csv"
    await asyncio.to_thread(tokens.write_text, "root-token,root,1,system:masters\n")
    log = tmp_path / "audit.log"
    flags = {"audit_policy_file": str(policy), "audit_log_path": str(log)}
    async with pair(tmp_path, Config(port=0, token_auth_file=str(tokens)), token="root-token", **flags) as both:
        headers = {"Authorization": "Bearer root-token"}
        async with aiohttp.ClientSession(both.gateway.url, headers=headers) as here:
            for path in (f"{CORE}/configmaps?resourceVersion=0", "/version"):
                async with here.get(path) as answer:
                    assert answer.status == 200
    records = [orjson.loads(line) for line in (await asyncio.to_thread(log.read_text)).splitlines()]
    assert [(r["requestURI"], r["user"]["username"], r["responseStatus"]["code"]) for r in records] == [
        (f"{CORE}/configmaps?resourceVersion=0", "root", 200),
        ("/version", "root", 200),
    ]


@pytest.mark.parametrize("mode", ["token", "impersonate"])
async def test_who_asks_at_the_upstream(tmp_path: Path, mode: str) -> None:
    tokens = tmp_path / "tokens.csv"
    await asyncio.to_thread(tokens.write_text, "root-token,root,1,system:masters\nann-token,ann,3,blue\n")
    given = Config(port=0, token_auth_file=str(tokens))
    async with pair(tmp_path, given, token="root-token", upstream_identity=mode) as both:
        headers = {"Authorization": "Bearer ann-token"}
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        async with (
            aiohttp.ClientSession(both.gateway.url, headers=headers) as here,
            here.post(path, json=review) as answer,
        ):
            user = (await answer.json())["status"]["userInfo"]
        assert (user["username"], user["groups"]) == ("ann", ["blue", "system:authenticated"])
        bad = {"Authorization": "Bearer bad"}
        async with aiohttp.ClientSession(both.gateway.url, headers=bad) as here, here.post(path, json=review) as answer:
            assert answer.status == 401
