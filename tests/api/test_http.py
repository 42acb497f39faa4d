"""The parts of HTTP that a client sees of Go's net/http, and documents beside resources (kube-apiserver 1.36.1)."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.secure import port_of, serving

MAPS = "/api/v1/namespaces/default/configmaps"
BODY = b'{"metadata":{"name":"a"}}'
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
AGGREGATED = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
PROTOBUF = "application/vnd.kubernetes.protobuf"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving(Config(port=0, controllers="")) as found:
        yield found


class Wire:
    """A connection whose bytes are seen as they are."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def head(self) -> tuple[bytes, dict[bytes, bytes]]:
        """Return the first line and the headers of the next answer."""
        text = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 10)
        line, *rest = text[:-4].split(b"\r\n")
        return line, {name.lower(): value for name, _, value in (each.partition(b": ") for each in rest)}

    async def answer(self) -> tuple[bytes, dict[bytes, bytes], bytes]:
        line, headers = await self.head()
        body = await self.reader.readexactly(int(headers.get(b"content-length", b"0")))
        return line, headers, body

    async def ended(self) -> bool:
        return await asyncio.wait_for(self.reader.read(), 10) == b""


Dial = Callable[..., Awaitable[Wire]]


@pytest.fixture
async def dial(server: Server) -> AsyncIterator[Dial]:
    """Open connections with the lines of a request, and close them at the end."""
    writers = []

    async def opened(*lines: str, line: str = "GET /version HTTP/1.1", body: bytes = b"", sent: bytes = b"") -> Wire:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        writers.append(writer)
        writer.write(sent or "\r\n".join((line, "Host: localhost", *lines, "", "")).encode() + body)
        return Wire(reader, writer)

    yield opened
    for writer in writers:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


POST, LENGTH = f"POST {MAPS} HTTP/1.1", f"Content-Length: {len(BODY)}"
TYPE = "Content-Type: application/json"


@pytest.mark.parametrize("expected", ["100-continue", "100-Continue", "x, 100-continue"])
async def test_a_client_is_told_to_send_its_body(dial: Dial, expected: str) -> None:
    wire = await dial(TYPE, LENGTH, f"Expect: {expected}", line=POST)
    assert await asyncio.wait_for(wire.reader.readexactly(len(CONTINUE)), 10) == CONTINUE
    wire.writer.write(BODY)
    line, headers, body = await wire.answer()
    assert (line, b"connection" in headers) == (b"HTTP/1.1 201 Created", False)
    assert json.loads(body)["metadata"]["name"] == "a"


async def test_a_body_that_is_not_read_is_not_asked_for(dial: Dial) -> None:
    wire = await dial(TYPE, LENGTH, "Expect: 100-continue", line="POST /nope HTTP/1.1")
    line, headers, _ = await wire.answer()
    assert (line, headers[b"connection"]) == (b"HTTP/1.1 404 Not Found", b"close")
    assert await wire.ended()


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ([LENGTH, "Expect: "], POST),
        (["Expect: 100-continue"], "GET /version HTTP/1.1"),
        ([LENGTH, "Expect: 100-continue"], POST.replace("1.1", "1.0")),
    ],
)
async def test_others_are_told_nothing(dial: Dial, lines: list[str], line: str) -> None:
    wire = await dial(TYPE, *lines, line=line, body=BODY if LENGTH in lines else b"")
    assert (await wire.head())[0].split()[1] in (b"200", b"201")


@pytest.mark.parametrize("version", ["1.1", "1.0"])
@pytest.mark.parametrize("expected", ["200-ok", "100-continue-x"])
async def test_another_expectation_fails(dial: Dial, expected: str, version: str) -> None:
    wire = await dial(TYPE, LENGTH, f"Expect: {expected}", line=POST.replace("1.1", version), body=BODY)
    line, headers, body = await wire.answer()
    assert (line, body) == (f"HTTP/{version} 417 Expectation Failed".encode(), b"")
    assert headers.keys() <= {b"connection", b"content-length", b"date"}
    assert await wire.ended()


@pytest.mark.parametrize(
    ("asked", "said", "ends"),
    [
        ("", None, True),
        ("Connection: keep-alive", b"keep-alive", False),
        ("Connection: Keep-Alive", b"keep-alive", False),
        ("Connection: x, keep-alive", b"keep-alive", False),
    ],
)
async def test_an_old_version_is_answered_in_it(dial: Dial, asked: str, said: bytes | None, ends: bool) -> None:
    wire = await dial(*filter(None, [asked]), line="GET /healthz HTTP/1.0")
    line, headers, body = await wire.answer()
    assert (line, headers.get(b"connection"), body) == (b"HTTP/1.0 200 OK", said, b"ok")
    if ends:
        assert await wire.ended()
    else:
        wire.writer.write(b"GET /livez HTTP/1.0\r\n\r\n")
        assert (await wire.answer())[2] == b"ok"


async def test_close_may_be_one_of_several_words(dial: Dial) -> None:
    wire = await dial("Connection: x, CLOSE", line="GET /healthz HTTP/1.1")
    assert (await wire.answer())[1][b"connection"] == b"close"
    assert await wire.ended()


async def test_a_watch_of_an_old_version_ends_with_its_connection(dial: Dial) -> None:
    query = f"{MAPS}?watch=1&timeoutSeconds=1"
    wire = await dial("Connection: keep-alive", line=f"GET {query} HTTP/1.0")
    line, headers = await wire.head()
    assert (line, headers.keys() & {b"connection", b"transfer-encoding"}) == (b"HTTP/1.0 200 OK", set())


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (b"GET /version HTTP/1.1\r\n\r\n", b"400 Bad Request: missing required Host header"),
        (b"GET /version HTTP/1.1\r\nHost: a b\r\n\r\n", b"400 Bad Request: malformed Host header"),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", b"505 HTTP Version Not Supported: unsupported protocol version"),
        (b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400 Bad Request"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nx\r\n\r\n", b"400 Bad Request"),
    ],
)
async def test_a_request_that_is_none_is_refused_as_by_go(dial: Dial, sent: bytes, text: bytes) -> None:
    wire = await dial(sent=sent)
    head = b"Content-Type: text/plain; charset=utf-8\r\nConnection: close"
    assert await asyncio.wait_for(wire.reader.read(), 10) == b"HTTP/1.1 %s\r\n%s\r\n\r\n%s" % (text, head, text)


async def found(server: Server, path: str, **headers: str) -> tuple[int, Any, bytes]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with aiohttp.ClientSession() as api, api.get(server.url + path, headers=sent) as r:
        return r.status, r.headers, await r.read()


@pytest.mark.parametrize("path", ["/api", "/apis"])
async def test_aggregated_discovery_has_all_encodings(server: Server, path: str) -> None:
    _, plain, text = await found(server, path, Accept=f"application/json;{AGGREGATED}")
    assert json.loads(text)["kind"] == "APIGroupDiscoveryList"
    for media, begin in (
        ("application/yaml", b"apiVersion: apidiscovery.k8s.io/v2\n"),
        (PROTOBUF, b"k8s\0\n/\n\x16api"),
    ):
        for accept in (f"{media};{AGGREGATED}", f"{media};{AGGREGATED},application/json"):
            status, headers, body = await found(server, path, Accept=accept)
            assert (status, headers["Content-Type"]) == (200, f"{media};{AGGREGATED}")
            assert body.startswith(begin)
            assert (headers["ETag"], headers["Vary"]) == (plain["ETag"], "Accept")
            assert (await found(server, path, Accept=accept, If_None_Match=headers["ETag"]))[0] == 304


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (f"*/*;{AGGREGATED}", "APIGroupDiscoveryList"),
        (f"application/*;{AGGREGATED}", "APIGroupDiscoveryList"),
        (f"application/json;{AGGREGATED};stream=watch", "APIGroupDiscoveryList"),
        (f"application/json;q=0.5,application/json;{AGGREGATED}", "APIGroupDiscoveryList"),
        (f"application/json,application/json;{AGGREGATED}", "APIGroupList"),
        (f"application/json;{AGGREGATED.replace('v2', 'v2beta1')},application/json", "APIGroupList"),
        ("*/*", "APIGroupList"),
        (f"application/json;{AGGREGATED};sv=v1", "Status"),
        (f"text/html;{AGGREGATED}", "Status"),
        (f"application/json;{AGGREGATED.replace('v2', 'v2beta1')}", "Status"),
    ],
)
async def test_which_discovery_is_asked_for(server: Server, accept: str, kind: str) -> None:
    assert json.loads((await found(server, "/apis", Accept=accept))[2])["kind"] == kind


async def test_an_unchanged_document_has_no_length(server: Server, dial: Dial) -> None:
    accept = f"application/json;{AGGREGATED}"
    tag = (await found(server, "/apis", Accept=accept))[1]["ETag"]
    wire = await dial(f"Accept: {accept}", f"If-None-Match: {tag}", line="GET /apis HTTP/1.1")
    line, headers = await wire.head()
    assert (line, b"content-length" in headers) == (b"HTTP/1.1 304 Not Modified", False)
    for other in (f"{tag}, x", f"W/{tag}", "*"):
        assert (await found(server, "/apis", Accept=accept, If_None_Match=other))[0] == 200


@pytest.mark.parametrize("path", ["/apis", "/api/v1", f"{MAPS}/nope", MAPS])
@pytest.mark.parametrize(
    ("given", "indented"),
    [("true", True), ("True", True), ("T", True), ("1", True), ("tRue", False), ("yes", False), ("0", False)],
)
async def test_who_gets_indented_text(server: Server, path: str, given: str, indented: bool) -> None:
    body = (await found(server, f"{path}?pretty={given}"))[2]
    assert (body.startswith(b'{\n  "'), body.endswith(b"}\n")) == (indented, not indented)


async def test_people_get_indented_text(server: Server) -> None:
    for path in ("/apis", "/api", f"{MAPS}?pretty="):
        assert (await found(server, path, User_Agent="curl/8"))[2].startswith(b"{\n")
        accept = "application/json;pretty=1"
        assert (await found(server, path.replace("=", "=0"), Accept=accept))[2].startswith(b"{\n")


@pytest.mark.parametrize(("given", "watches"), [("f", True), ("F", True), ("", True), ("0", False), ("FALSE", False)])
async def test_what_is_a_watch(server: Server, given: str, watches: bool) -> None:
    _, headers, _ = await found(server, f"{MAPS}?timeoutSeconds=1&watch={given}")
    assert (headers.get("Transfer-Encoding") == "chunked") is watches


SPEC, INDEX = "/openapi/v2", "/openapi/v3"
CORE = "/openapi/v3/api/v1"


async def test_documents_have_the_headers_of_files(server: Server) -> None:
    for path in (SPEC, CORE):
        _, headers, body = await found(server, path)
        assert headers["Accept-Ranges"] == "bytes"
        tag, modified = headers["ETag"], headers["Last-Modified"]
        for name, value in (
            ("If-None-Match", tag),
            ("If-None-Match", f'"a", W/{tag}'),
            ("If-None-Match", "*"),
            ("If-Modified-Since", modified),
        ):
            status, again, none = await found(server, path, **{name: value})
            assert (status, none, again["ETag"], "Last-Modified" in again) == (304, b"", tag, False)
        for name, value in (("If-Match", '"a"'), ("If-Unmodified-Since", "Fri, 27 Nov 2020 17:55:08 GMT")):
            assert (await found(server, path, **{name: value}))[0] == 412
        for name, value in (("If-Match", tag), ("If-None-Match", '"a"'), ("If-Modified-Since", "x")):
            assert (await found(server, path, **{name: value}))[::2] == (200, body)


async def test_parts_of_documents(server: Server) -> None:
    _, headers, body = await found(server, SPEC)
    size = len(body)
    for asked, place, part in (
        ("0-3", "0-3", body[:4]),
        ("-4", f"{size - 4}-{size - 1}", body[-4:]),
        ("5-", f"5-{size - 1}", body[5:]),
        (f"{size - 1}-{size + 9}", f"{size - 1}-{size - 1}", body[-1:]),
        (" 1 - 2 ,", "1-2", body[1:3]),
    ):
        status, found_headers, data = await found(server, SPEC, Range=f"bytes={asked}")
        assert (status, found_headers["Content-Range"], data) == (206, f"bytes {place}/{size}", part)
    status, several, data = await found(server, SPEC, Range="bytes=0-1,4-5")
    kind, _, boundary = several["Content-Type"].partition("; boundary=")
    assert (status, kind, data.count(b"Content-Range: bytes "), data.endswith(f"--{boundary}--\r\n".encode())) == (
        206,
        "multipart/byteranges",
        2,
        True,
    )
    for asked, text in (("bytes=99999999-", b"invalid range: failed to overlap\n"), ("x", b"invalid range\n")):
        assert (await found(server, SPEC, Range=asked))[::2] == (416, text)
    for asked in ("bytes=3-1", "bytes=--1", "bytes=a-", "bytes=1"):
        assert (await found(server, SPEC, Range=asked))[0] == 416
    for condition, status in ((headers["ETag"], 206), ('"x"', 200), (headers["Last-Modified"], 206), ("x", 200)):
        assert (await found(server, SPEC, Range="bytes=0-3", If_Range=condition))[0] == status
    assert (await found(server, INDEX, Range="bytes=0-3"))[::2] == (206, b'{"pa')


async def test_which_documents_are_packed(server: Server) -> None:
    """The handler of version 2 packs; that of version 3 does not."""
    for path, packed in ((SPEC, "gzip"), (CORE, None)):
        _, headers, _ = await found(server, path, Accept_Encoding="gzip")
        assert headers.get("Content-Encoding") == packed
        assert headers.getall("Vary") == (["Accept-Encoding", "Accept"] if packed else ["Accept"])
    status, headers, _ = await found(server, SPEC, Accept_Encoding="gzip", Range="bytes=0-3")
    assert (status, "Content-Encoding" in headers) == (206, False)


async def test_a_document_of_another_hash_is_elsewhere(dial: Dial) -> None:
    wire = await dial(line=f"GET {CORE}?hash=x HTTP/1.1")
    line, headers = await wire.head()
    assert line == b"HTTP/1.1 301 Moved Permanently"
    assert headers[b"etag"].strip(b'"') == headers[b"location"].partition(b"hash=")[2]
    assert headers[b"vary"] == b"Accept"


@pytest.mark.parametrize(("path", "status"), [("/apis", 200), (SPEC, 200), (MAPS, 406), ("/version", 406)])
async def test_a_star_alone_is_any_type_where_no_route_is_chosen(server: Server, path: str, status: int) -> None:
    for accept in ("*", "*;q=0.1"):
        code, _, body = await found(server, path, Accept=accept)
        assert (code, body.startswith(b"{\n")) == (status, False) or path == SPEC


@pytest.mark.parametrize(("value", "kind"), [(True, "bool"), (1, "number"), ([], "array"), ({}, "object")])
@pytest.mark.parametrize("member", ["kind", "apiVersion"])
async def test_the_type_of_options_is_read_first(server: Server, member: str, value: object, kind: str) -> None:
    async with aiohttp.ClientSession() as api, api.delete(f"{server.url}{MAPS}/x", json={member: value}) as r:
        why = f"json: cannot unmarshal {kind} into Go struct field .{member} of type string"
        assert (r.status, (await r.json())["message"]) == (400, f"couldn't get version/kind; json parse error: {why}")


async def test_a_proxy_produces_any_type(server: Server) -> None:
    for path in ("/api/v1/nodes/x/proxy", "/api/v1/namespaces/default/services/x/proxy/a"):
        status, _, body = await found(server, path, Accept="image/png")
        assert (status, b"not found" in body) == (404, True)
