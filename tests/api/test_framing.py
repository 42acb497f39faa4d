"""Requests that a proxy could read otherwise: refused as Go's server does, and the connection ends (RFC 9112)."""

from __future__ import annotations

import asyncio

import pytest

from hydrofoil.endpoints.framing import origin_form
from hydrofoil.server.run import Server

BAD = "400 Bad Request"
HOST = f"{BAD}: malformed Host header"
CODING = "Unsupported transfer encoding"
SECOND = b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"


def get(*lines: bytes, target: bytes = b"/version", version: bytes = b"HTTP/1.1", host: bytes = b"localhost") -> bytes:
    return b"\r\n".join([b"GET %s %s" % (target, version), b"Host: %s" % host, *lines, b"", b""])


def post(*lines: bytes, body: bytes = b"0\r\n\r\n") -> bytes:
    return b"\r\n".join([b"POST /api/v1/namespaces HTTP/1.1", b"Host: localhost", *lines, b"", body])


CHUNKED = b"Transfer-Encoding: chunked"
REFUSED = {
    "no version": (b"GET /version\r\n\r\n", 400, BAD),
    "no version, headers": (b"GET /version\r\nHost: localhost\r\n\r\n", 400, BAD),
    "HTTP/1.10": (get(version=b"HTTP/1.10"), 400, BAD),
    "version in small letters": (get(version=b"http/1.1"), 400, BAD),
    "space after the version": (get(version=b"HTTP/1.1 "), 400, BAD),
    "space in the target": (get(target=b"/ver sion"), 400, BAD),
    "no slash": (get(target=b"version"), 400, BAD),
    "half an escape": (get(target=b"/version%z"), 400, BAD),
    "no host": (b"GET /version HTTP/1.1\r\n\r\n", 400, f"{BAD}: missing required Host header"),
    "two hosts": (get(b"Host: x"), 400, BAD),
    "host with a space": (get(host=b"a b"), 400, HOST),
    "host with a slash": (get(host=b"a/b"), 400, HOST),
    "hosts in a list": (get(host=b"a, b"), 400, HOST),
    "host with a user": (get(host=b"u@b"), 400, HOST),
    "host with a query": (get(host=b"a?b"), 400, HOST),
    "host with a tab": (get(host=b"a\tb"), 400, HOST),
    "host beyond ASCII": (get(host=b"\xc3\xa9"), 400, HOST),
    "space before the colon": (get(b"X : y"), 400, BAD),
    "no colon": (get(b"X"), 400, BAD),
    "name that is no token": (get(b"X(: y"), 400, BAD),
    "empty name": (get(b": y"), 400, BAD),
    "folded line": (get(b"X: a", b" b"), 400, BAD),
    "folded first line": (b"GET /version HTTP/1.1\r\n X: a\r\nHost: localhost\r\n\r\n", 400, BAD),
    "bare LF": (b"GET /version HTTP/1.1\nHost: x\n\n", 400, BAD),
    "bare CR": (get(b"X: a\rb"), 400, BAD),
    "NUL": (get(b"X: a\0b"), 400, BAD),
    "coding before chunked": (
        post(b"Transfer-Encoding: identity, chunked"),
        400,
        f"{BAD}: unsupported transfer encoding",
    ),
    "gzip before chunked": (post(b"Transfer-Encoding: gzip, chunked"), 400, f"{BAD}: unsupported transfer encoding"),
    "nothing before chunked": (post(b"Transfer-Encoding: ,chunked"), 400, f"{BAD}: unsupported transfer encoding"),
    "no coding": (get(b"Transfer-Encoding:"), 501, CODING),
    "unknown coding": (post(b"Transfer-Encoding: x"), 400, BAD),
    "chunked twice": (post(b"Transfer-Encoding: chunked, chunked"), 400, BAD),
    "two codings": (post(CHUNKED, CHUNKED), 400, BAD),
    "chunked with a parameter": (post(b"Transfer-Encoding: chunked;a=b"), 400, BAD),
    "chunked in HTTP/1.0": (get(CHUNKED, version=b"HTTP/1.0") + b"0\r\n\r\n", 400, BAD),
    "chunked and a length": (post(CHUNKED, b"Content-Length: 5"), 400, BAD),
    "lengths that differ": (get(b"Content-Length: 0", b"Content-Length: 1"), 400, BAD),
    "lengths in a list": (get(b"Content-Length: 0, 0"), 400, BAD),
    "length with a plus": (get(b"Content-Length: +0"), 400, BAD),
    "length with a minus": (get(b"Content-Length: -1"), 400, BAD),
    "hexadecimal length": (get(b"Content-Length: 0x0"), 400, BAD),
    "length with a space": (get(b"Content-Length: 0 0"), 400, BAD),
    "length with an underscore": (get(b"Content-Length: 0_0"), 400, BAD),
    "empty length": (get(b"Content-Length:"), 400, BAD),
    "endless length": (get(b"Content-Length: 99999999999999999999"), 400, BAD),
    "chunk that is no number": (post(CHUNKED, body=b"xyz\r\n\r\n"), 400, BAD),
    "chunk with 0x": (post(CHUNKED, body=b"0x0\r\n\r\n"), 400, BAD),
    "chunk with a sign": (post(CHUNKED, body=b"+2\r\n{}\r\n0\r\n\r\n"), 400, BAD),
    "chunk with a space": (post(CHUNKED, body=b" 2\r\n{}\r\n0\r\n\r\n"), 400, BAD),
    "endless chunk": (post(CHUNKED, body=b"f" * 17 + b"\r\n{}\r\n0\r\n\r\n"), 400, BAD),
    "extension with a bare LF": (post(CHUNKED, body=b"2;a\n{}\r\n0\r\n\r\n"), 400, BAD),
    "chunk without its end": (post(CHUNKED, body=b"2\r\n{}0\r\n\r\n"), 400, BAD),
    "trailer that is none": (post(CHUNKED, body=b"2\r\n{}\r\n0\r\nX y\r\n\r\n"), 400, BAD),
}


async def reported(server: Server, data: bytes) -> bytes:
    """Return all bytes received until the connection ends."""
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(data)
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize("name", REFUSED)
async def test_refused(server: Server, name: str) -> None:
    """One answer and the end, with the next request behind it: that one is never read."""
    data, status, text = REFUSED[name]
    for more in (b"", SECOND):
        answer = await reported(server, data + more)
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert answer.count(b"HTTP/1.1 ") == 1
        assert answer.endswith(b"\r\n\r\n" + text.encode())


async def test_other_versions_of_the_protocol(server: Server) -> None:
    answer = await reported(server, get(version=b"HTTP/2.0"))
    assert answer.startswith(b"HTTP/1.1 505 ")
    assert answer.endswith(b"\r\n\r\n505 HTTP Version Not Supported: unsupported protocol version")


@pytest.mark.parametrize("target", [b"http://x/version", b"https://y:1/version", b"http://x:80/version?a=b"])
async def test_an_absolute_target_is_its_path(server: Server, target: bytes) -> None:
    """RFC 9112, 3.2.2."""
    answer = await reported(server, get(b"Connection: close", target=target))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b'"major": "1"' in answer


async def test_the_asterisk_is_about_the_server(server: Server) -> None:
    """RFC 9112, 3.2.4: as Go's server, with an empty body."""
    answer = await reported(server, b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"Content-Length: 0\r\n" in answer


@pytest.mark.parametrize("host", [b"localhost", b"", b"[::1]:80", b"LocalHost:1", b"127.0.0.1"])
async def test_hosts_that_are_taken(server: Server, host: bytes) -> None:
    assert (await reported(server, get(b"Connection: close", host=host))).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("target", "path"),
    [("http://a", "/"), ("http://a?b", "/?b"), ("ftp://a/b", "/b"), ("/http://a", "/http://a"), ("*", "*")],
)
def test_origin_form(target: str, path: str) -> None:
    assert origin_form(target) == path
