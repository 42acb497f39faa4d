"""CBOR behind its feature gate, checked with another implementation (MT-17 to MT-23)."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import cbor2
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server

CBOR = "application/cbor"
SECRETS = "/api/v1/namespaces/default/secrets"
TAGGED = b"\xd9\xd9\xf7"


@pytest.fixture
async def gated() -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server that reads and writes CBOR."""
    server = Server(Config(port=0, controllers="", feature_gates={"CBORServingAndStorage": True}))
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": CBOR, "Accept": CBOR}) as session:
        yield session
    await server.stop()


def plain(value: Any) -> Any:
    """Return a decoded value, with texts that upstream writes as byte strings as texts; bytes keep their tag."""
    if isinstance(value, cbor2.CBORTag):
        return value.value if value.tag == 22 else plain(value.value)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, Mapping):
        return {plain(k): plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def load(data: bytes) -> Any:
    assert data.startswith(TAGGED)
    return plain(cbor2.loads(data))


def secret(name: str, data: bytes) -> bytes:
    tagged = cbor2.CBORTag(22, data)
    return cbor2.dumps({"metadata": {"name": name, "labels": {"n": name}}, "data": {"k": tagged}})


async def test_what_is_written_is_read_back(gated: aiohttp.ClientSession) -> None:
    """MT-18, MT-20: bytes are bytes; JSON and CBOR show the same object."""
    async with gated.post(SECRETS, data=secret("a", b"\x00\xff")) as r:
        assert r.status == 201
        assert r.headers["Content-Type"] == CBOR
        made = load(await r.read())
    assert made["data"]["k"] == b"\x00\xff"
    async with gated.get(f"{SECRETS}/a", headers={"Accept": "application/json"}) as r:
        shown = await r.json()
    assert shown == {**made, "data": {"k": "AP8="}}


async def test_lists_and_pages(gated: aiohttp.ClientSession) -> None:
    for i in range(150):
        async with gated.post(SECRETS, data=secret(f"s{i:03}", b"x" * i)) as r:
            assert r.status == 201
    names: list[str] = []
    token = ""
    while True:
        async with gated.get(f"{SECRETS}?limit=70&continue={token}") as r:
            page = load(await r.read())
        names += [item["metadata"]["name"] for item in page["items"]]
        token = page["metadata"].get("continue", "")
        if not token:
            break
    assert names == [f"s{i:03}" for i in range(150)]
    async with gated.get(SECRETS, headers={"Accept-Encoding": "gzip"}) as r:
        whole = load(await r.read())
    assert [item["metadata"]["name"] for item in whole["items"]] == names


async def test_a_streamed_list_ends_once(gated: aiohttp.ClientSession) -> None:
    """Two requests on one connection: what follows a large list is the next answer."""
    for i in range(40):
        async with gated.post(SECRETS, data=secret(f"big{i:02}", b"x" * 10_000)) as r:
            assert r.status == 201
    path = f"GET {SECRETS} HTTP/1.1\r\nHost: localhost\r\nAccept: {CBOR}\r\n\r\n".encode()
    url = gated._base_url
    assert url is not None
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(path * 2)
    for _ in range(2):
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert b"chunked" in head
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        assert await reader.readline() == b"\r\n"
        assert len(load(body)["items"]) == 40
    writer.close()


async def test_a_watch_is_a_sequence(gated: aiohttp.ClientSession) -> None:
    """MT-21: one item an event."""
    async with gated.post(SECRETS, data=secret("w", b"1")) as r:
        assert r.status == 201
    async with gated.get(f"{SECRETS}?watch=1&timeoutSeconds=1") as r:
        assert r.headers["Content-Type"] == "application/cbor-seq"
        stream = io.BytesIO(await r.read())
    events = [plain(cbor2.load(stream))]
    assert events[0]["type"] == "ADDED"
    assert events[0]["object"]["metadata"]["name"] == "w"


async def test_apply(gated: aiohttp.ClientSession) -> None:
    """MT-22, MT-23: configurations may come in CBOR, other patches not."""
    body = cbor2.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"k": "v"}})
    path = "/api/v1/namespaces/default/configmaps/c?fieldManager=m"
    async with gated.patch(path, data=body, headers={"Content-Type": "application/apply-patch+cbor"}) as r:
        assert r.status == 201
        assert load(await r.read())["data"] == {"k": "v"}
    async with gated.patch(path, data=body, headers={"Content-Type": "application/merge-patch+cbor"}) as r:
        assert r.status == 415


@pytest.mark.parametrize("bomb", [b"\x81" * 100_000, b"\x9b" + b"\xff" * 8, b"\x5b" + b"\x7f" * 8, b"\xbf" * 50_000])
async def test_bombs_are_refused(gated: aiohttp.ClientSession, bomb: bytes) -> None:
    async with gated.post(SECRETS, data=TAGGED + bomb) as r:
        assert r.status == 400
        assert load(await r.read())["reason"] == "BadRequest"


async def test_a_text_is_no_bytes(gated: aiohttp.ClientSession) -> None:
    """MT-20: base64 arrives as a byte string, never as a text."""
    body = cbor2.dumps({"metadata": {"name": "t"}, "data": {"k": "AP8="}})
    async with gated.post(SECRETS, data=body) as r:
        assert r.status == 400
        assert (
            "cannot unmarshal UTF-8 text string into Go struct field v1.Secret.data" in load(await r.read())["message"]
        )


async def test_without_the_gate(api: aiohttp.ClientSession) -> None:
    """MT-17."""
    async with api.get(SECRETS, headers={"Accept": CBOR}) as r:
        assert r.status == 406
    async with api.post(SECRETS, data=secret("a", b"1"), headers={"Content-Type": CBOR}) as r:
        assert r.status == 415
