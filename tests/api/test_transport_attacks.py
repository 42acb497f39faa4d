"""Attacks on the transport, each beside the same request allowed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import subprocess
import time
import warnings
from collections.abc import AsyncIterator
from pathlib import Path
from time import perf_counter

import pytest

from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.secure import GET, Made, exchange, make, port_of, serving

HELLO = bytes.fromhex("160301000501000001")
"""The start of a greeting."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def config(made: Made) -> Config:
    return Config(port=0, tls_cert_file=made.cert, tls_private_key_file=made.key)


@pytest.fixture
async def tls(config: Config) -> AsyncIterator[Server]:
    async with serving(config) as server:
        yield server


async def test_old_versions_of_tls(tls: Server, made: Made) -> None:
    """RFC 8996; upstream's least version is TLS 1.2."""
    assert b" 200 OK" in await exchange(tls, GET, made.client(maximum_version=ssl.TLSVersion.TLSv1_2))
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context = made.client(minimum_version=version, maximum_version=version)
        context.set_ciphers("ALL:@SECLEVEL=0")
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await exchange(tls, GET, context)


async def test_the_least_version_is_a_flag(config: Config, made: Made) -> None:
    async with serving(config.replaced(tls_min_version="VersionTLS13")) as server:
        assert b" 200 OK" in await exchange(server, GET, made.client())
        with pytest.raises(ssl.SSLError):
            await exchange(server, GET, made.client(maximum_version=ssl.TLSVersion.TLSv1_2))


async def test_weak_cipher_suites(tls: Server, made: Made) -> None:
    """Without forward secrecy, or with CBC: none of them is offered."""
    for suites, good in (("ECDHE-ECDSA-AES128-GCM-SHA256", True), ("ECDHE-ECDSA-AES128-SHA:AES128-SHA", False)):
        context = made.client(maximum_version=ssl.TLSVersion.TLSv1_2)
        context.set_ciphers(f"{suites}:@SECLEVEL=0")
        if good:
            assert b" 200 OK" in await exchange(tls, GET, context)
        else:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await exchange(tls, GET, context)


async def test_cipher_suites_are_a_flag(config: Config, made: Made) -> None:
    one = ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",)
    async with serving(config.replaced(tls_cipher_suites=type(config.tls_cipher_suites)(one))) as server:
        context = made.client(maximum_version=ssl.TLSVersion.TLSv1_2)
        context.set_ciphers("ECDHE-ECDSA-AES256-GCM-SHA384")
        assert b" 200 OK" in await exchange(server, GET, context)
        context = made.client(maximum_version=ssl.TLSVersion.TLSv1_2)
        context.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256")
        with pytest.raises(ssl.SSLError):
            await exchange(server, GET, context)
        # Those of TLS 1.3 are no choice, as in Go.
        assert b" 200 OK" in await exchange(server, GET, made.client(minimum_version=ssl.TLSVersion.TLSv1_3))


def answered(port: int, *, renegotiates: bool) -> bytes:
    """Return the answer that openssl gets; its command `R` asks for another handshake."""
    line = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_2", "-quiet", "-no_ign_eof"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdin and program.stdout
        with contextlib.suppress(BrokenPipeError):
            if renegotiates:
                program.stdin.write(b"R\n")
                program.stdin.flush()
                time.sleep(0.3)  # a command is a read of its own
            program.stdin.write(GET)
            program.stdin.flush()
        answer = program.stdout.read()
        program.kill()
        with contextlib.suppress(BrokenPipeError):
            program.stdin.close()
    return answer


@pytest.mark.program("openssl")
@pytest.mark.parametrize("renegotiates", [False, True])
async def test_renegotiation(tls: Server, renegotiates: bool) -> None:
    """RFC 5746."""
    answer = await asyncio.to_thread(answered, port_of(tls), renegotiates=renegotiates)
    assert (b" 200 OK" in answer) is not renegotiates


async def test_only_http_1_1_is_negotiated(tls: Server, made: Made) -> None:
    for offered, chosen in ((["h2", "http/1.1"], "http/1.1"), ([], None)):
        context = made.client()
        if offered:
            context.set_alpn_protocols(offered)
        _, writer = await asyncio.open_connection("127.0.0.1", port_of(tls), ssl=context, server_hostname="localhost")
        assert writer.get_extra_info("ssl_object").selected_alpn_protocol() == chosen
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def test_plain_http_on_the_tls_port(tls: Server, made: Made) -> None:
    """As net/http answers it."""
    assert b" 200 OK" in await exchange(tls, GET, made.client())
    plain = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
    assert await exchange(tls, GET) == plain


@pytest.mark.parametrize(
    "garbage",
    [b"\x00", b"\x80\x2e\x01\x00\x02", b"SSH-2.0-x\r\n", b"\x16\x03\x01\xff\xff" + b"a" * 70_000, HELLO + b"\x00" * 40],
    ids=["zero", "sslv2", "ssh", "huge", "empty"],
)
async def test_garbage_in_a_handshake(tls: Server, made: Made, garbage: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(tls))
    writer.write(garbage * 20)
    with contextlib.suppress(ConnectionError):
        assert len(await asyncio.wait_for(reader.read(-1), 5)) < 20
    writer.close()
    assert b" 200 OK" in await exchange(tls, GET, made.client())


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("Host: localhost", 200),
        ("Host: LOCALHOST:1", 200),
        ("Host: 127.0.0.1:{port}", 200),
        ("Host: [::1]:{port}", 200),
        ("Host: evil.example.com", 403),
        ("Host: localhost.example.com", 403),
        ("Host: 127.0.0.1.example.com:{port}", 403),
        ("Host: 192.0.2.1", 403),
        ("Host: [::1].example.com", 403),
        ("Host: localhost\r\nOrigin: http://localhost:3000", 200),
        ("Host: localhost\r\nOrigin: https://evil.example.com", 403),
        ("Host: localhost\r\nOrigin: null", 403),
        ("Host: localhost\r\norigin: http://localhost.evil.example.com", 403),
        ("Host: localhost\r\nSec-Fetch-Site: same-origin", 200),
        ("Host: localhost\r\nSec-Fetch-Site: none", 200),
        ("Host: localhost\r\nSec-Fetch-Site: cross-site", 403),
        ("Host: localhost\r\nSEC-FETCH-SITE: Cross-Site", 403),
        (
            "Host: localhost\r\nOrigin: https://evil.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13",
            403,
        ),
    ],
)
async def test_a_web_page_cannot_reach_plain_loopback(server: Server, line: str, status: int) -> None:
    """A name that resolves to the loopback address, or a page of another site."""
    lines = line.format(port=port_of(server))
    answer = await exchange(server, f"GET /version HTTP/1.1\r\nConnection: close\r\n{lines}\r\n\r\n".encode())
    assert answer.split(b" ")[1] == str(status).encode(), answer


async def test_a_refusal_says_how_a_host_is_accepted(server: Server) -> None:
    request = b"GET /version HTTP/1.1\r\nConnection: close\r\nHost: host.docker.internal\r\n\r\n"
    assert b"; --accept-hosts names other hosts" in await exchange(server, request)
    async with serving(Config(port=0, accept_hosts=Texts(("Host.docker.*",)))) as other:
        assert b" 200 OK" in await exchange(other, request)


async def test_where_credentials_are_asked_for_any_name_will_do(tmp_path: Path) -> None:
    """A page has none, and no right without."""
    tokens = tmp_path / "tokens.csv"
    await asyncio.to_thread(tokens.write_text, "t,admin,1,system:masters\n")
    lines = "Host: host.docker.internal\r\nOrigin: https://ui.example.com\r\nSec-Fetch-Site: cross-site"
    async with serving(Config(port=0, token_auth_file=str(tokens))) as server:
        for more, status in (("", b"403"), ("\r\nAuthorization: Bearer t", b"200")):
            request = f"GET /api/v1/nodes HTTP/1.1\r\nConnection: close\r\n{lines}{more}\r\n\r\n"
            answer = await exchange(server, request.encode())
            assert answer.split(b" ")[1] == status
            assert b"accept-hosts" not in answer


async def test_over_tls_the_certificate_names_the_server(tls: Server, made: Made) -> None:
    """Any `Host` will do, since a page of another name gets no connection."""
    request = GET.replace(b"localhost", b"kubernetes.default.svc")
    assert b" 200 OK" in await exchange(tls, request, made.client())


def head(size: int) -> bytes:
    """Return a request whose head has this many bytes."""
    start, end = b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ", b"\r\n\r\n"
    return start + b"a" * (size - len(start) - len(end)) + end


@pytest.mark.parametrize("over_tls", [False, True])
async def test_heads_end_at_a_megabyte(server: Server, tls: Server, made: Made, over_tls: bool) -> None:
    """net/http `DefaultMaxHeaderBytes`."""
    place, context = (tls, made.client()) if over_tls else (server, None)
    for size, status in ((1_000_000, b"200"), ((1 << 20) + 4096, b"200"), ((1 << 20) + 4097, b"431")):
        assert (await exchange(place, head(size), context)).split(b" ")[1] == status, size
    assert (await exchange(place, head(3_000_000), context)).split(b" ")[1:2] in ([b"431"], [])


async def test_a_head_in_small_pieces_costs_no_more(server: Server) -> None:
    """The parser copies its part of a line again with each piece."""
    data = head(900_000)
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
    writer.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for at in range(0, len(data), 1500):
        writer.write(data[at : at + 1500])
        await asyncio.sleep(0)
    assert b" 200 OK" in await asyncio.wait_for(reader.read(-1), 20)
    writer.close()


async def ends(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, byte: bytes) -> float:
    """Send a byte again and again; return the seconds until the server ends the connection."""
    start = perf_counter()
    with contextlib.suppress(ConnectionError):
        while perf_counter() - start < 15:
            writer.write(byte)
            await writer.drain()
            with contextlib.suppress(TimeoutError):
                if not await asyncio.wait_for(reader.read(1000), 0.05):
                    break
    writer.close()
    return perf_counter() - start


@pytest.mark.parametrize("kept_alive", [False, True])
async def test_a_head_that_trickles_in_ends(kept_alive: bool) -> None:
    """Within the time of a head, on a connection's first request and on later ones."""
    async with serving(Config(port=0, header_timeout=1.0, idle_timeout=30.0)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        if kept_alive:
            writer.write(GET.replace(b"Connection: close\r\n", b""))
            await reader.readuntil(b"}")
        writer.write(b"GET /version HTTP/1.1\r\nX: ")
        assert await ends(reader, writer, b"a") < 5
        assert b" 200 OK" in await exchange(server, GET)


async def test_a_slow_body_is_no_slow_head() -> None:
    """A kept-alive connection whose body takes longer than a head may."""
    async with serving(Config(port=0, header_timeout=0.3)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        body = b'{"metadata": {"name": "slow"}}'
        for _ in range(2):
            writer.write(b"POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\n")
            writer.write(b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body))
            for at in range(0, len(body), 5):
                writer.write(body[at : at + 5])
                await asyncio.sleep(0.1)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            await reader.readexactly(int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0]))
        writer.close()


async def test_a_handshake_that_trickles_in_ends(config: Config, made: Made) -> None:
    async with serving(config.replaced(header_timeout=1.0)) as server:
        assert b" 200 OK" in await exchange(server, GET, made.client())
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        writer.write(HELLO)
        assert await ends(reader, writer, b"\0") < 5
