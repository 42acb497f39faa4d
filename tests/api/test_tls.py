"""The same over TLS: reads, watches, certificates of clients, names, and files that change."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from hydrofoil import files
from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server, StartError
from tests.api.secure import GET, Made, exchange, make, port_of, read, serving, write
from tests.conftest import command


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return make(tmp_path)


@pytest.fixture
async def server(made: Made) -> AsyncIterator[Server]:
    async with serving(Config(port=0, tls_cert_file=made.cert, tls_private_key_file=made.key)) as server:
        yield server


async def test_lists_and_watches(server: Server, made: Made) -> None:
    async with aiohttp.ClientSession(server.url, connector=aiohttp.TCPConnector(ssl=made.client())) as api:
        async with api.get("/api/v1/namespaces") as r:
            assert len((await r.json())["items"]) == 4
        async with api.get("/api/v1/namespaces?watch=1&timeoutSeconds=1") as r:
            assert (await r.text()).count('"ADDED"') == 4


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_bodies_of_megabytes(server: Server, made: Made, version: ssl.TLSVersion) -> None:
    """Both ways, in many records."""
    data = {"metadata": {"name": "large"}, "data": {"a": "b" * 900_000}}
    context = made.client(minimum_version=version, maximum_version=version)
    async with aiohttp.ClientSession(server.url, connector=aiohttp.TCPConnector(ssl=context)) as api:
        async with api.post("/api/v1/namespaces/default/configmaps", json=data) as r:
            assert r.status == 201
            assert (await r.json())["data"] == data["data"]
        async with api.get("/openapi/v2") as r:
            assert len(await r.read()) > 1_000_000


@pytest.fixture
async def asking(made: Made) -> AsyncIterator[Server]:
    ca = str(made.folder / "ca.crt")
    async with serving(
        Config(port=0, tls_cert_file=made.cert, tls_private_key_file=made.key, client_ca_file=ca)
    ) as server:
        yield server


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_bad_client_certificate_is_a_status(asking: Server, made: Made, version: ssl.TLSVersion) -> None:
    """Go's RequestClientCert: the handshake is good, and the request is 401."""
    stranger = make(made.folder / "other").pair("eve", [], ("eve", "system:masters"))
    admin = made.pair("admin", [], ("admin", "system:masters"))
    server = made.pair("no-client", ["localhost"])
    for pair, path, status in (
        (admin, "/api/v1/secrets", b"200"),
        (made.pair("alice", [], ("alice", "blue")), "/api/v1/secrets", b"403"),
        (None, "/version", b"200"),
        (None, "/api/v1/secrets", b"403"),
        (stranger, "/version", b"401"),
        (stranger, "/api/v1/secrets", b"401"),
        (server, "/version", b"401"),
    ):
        context = made.client(minimum_version=version, maximum_version=version)
        if pair:
            context.load_cert_chain(*pair)
        assert (await exchange(asking, GET.replace(b"/version", path.encode()), context)).split(b" ")[1] == status


@pytest.mark.program("openssl")
async def test_a_client_certificate_without_extensions(asking: Server, made: Made, tmp_path: Path) -> None:
    """Version 1, as `openssl x509 -req` made them for long."""
    key, cert = tmp_path / "old.key", tmp_path / "old.crt"
    lines = [
        f"req -new -newkey rsa:2048 -nodes -keyout {key} -subj /O=system:masters/CN=old -out {tmp_path}/old.csr",
        f"x509 -req -in {tmp_path}/old.csr -CA {tmp_path}/ca.crt -CAkey {tmp_path}/ca.key -CAcreateserial -out {cert}",
    ]
    for line in lines:
        await asyncio.to_thread(subprocess.run, ["openssl", *line.split()], check=True, capture_output=True)
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = made.client(minimum_version=version, maximum_version=version)
        context.load_cert_chain(cert, key)
        assert b" 200 OK" in await exchange(asking, GET.replace(b"/version", b"/api/v1/secrets"), context)


async def presented(server: Server, name: str = "localhost") -> str:
    """Return the fingerprint of the certificate that a server presents for a name."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    _, writer = await asyncio.open_connection("127.0.0.1", port_of(server), ssl=context, server_hostname=name)
    der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return fingerprint(der)


def fingerprint(der: bytes) -> str:
    return hashlib.sha256(der).hexdigest()


def of(path: str) -> str:
    return fingerprint(ssl.PEM_cert_to_DER_cert(read(path)))


async def test_names_choose_certificates(made: Made) -> None:
    """`--tls-sni-cert-key`, with names given and with those of the certificate."""
    one, two = made.pair("one", ["one.example.com"]), made.pair("two", ["localhost", "*.two.example.com"])
    pairs = Texts((",".join(one) + ":One.example.com,*.any.example.com", ",".join(two)))
    config = Config(port=0, tls_cert_file=made.cert, tls_private_key_file=made.key, tls_sni_cert_key=pairs)
    async with serving(config) as server:
        for name, path in (
            ("one.example.com", one[0]),
            ("x.any.example.com", one[0]),
            ("X.two.example.com", two[0]),
            ("x.y.two.example.com", made.cert),
            ("localhost", two[0]),
            ("other", made.cert),
        ):
            assert await presented(server, name) == of(path), name


async def test_a_changed_pair_is_presented_without_losing_a_watch(
    server: Server, made: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Bad content leaves the old pair in force, with one line in the log (`dynamiccertificates`)."""
    monkeypatch.setattr(files, "PERIOD", 0.05)
    first = of(made.cert)
    session = aiohttp.ClientSession(server.url, connector=aiohttp.TCPConnector(ssl=made.client()))
    async with session as api, api.get("/api/v1/namespaces?watch=1&resourceVersion=0") as watch:
        await watch.content.readline()
        write(made.key, made.ca[1])
        while "stays as it was" not in caplog.text:
            await asyncio.sleep(0.02)
        assert await presented(server) == first
        made.pair("server", ["localhost", "127.0.0.1"])
        while await presented(server) == first:
            await asyncio.sleep(0.02)
        assert await presented(server) == of(made.cert)
        body = {"metadata": {"name": "later"}}
        async with api.post("/api/v1/namespaces", json=body) as r:
            assert r.status == 201
        while b'"later"' not in await watch.content.readline():
            """Earlier namespaces."""


async def test_a_key_that_does_not_fit_stops_a_start(made: Made) -> None:
    write(made.key, made.ca[1])
    with pytest.raises(StartError, match=r"private key does not match public key$"):
        await Server(Config(port=0, tls_cert_file=made.cert, tls_private_key_file=made.key)).start()


def test_a_missing_certificate_is_one_line(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.pem")
    done = subprocess.run(
        command("serve", "--port", "0", "--tls-cert-file", missing), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("hydrofoil: cannot use the TLS certificate: ")
    assert done.stderr.count("\n") == 1
