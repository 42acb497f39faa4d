"""The same over TLS."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import aiohttp
import pytest

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.conftest import command


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    line += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(line, check=True, capture_output=True)
    return cert, key


@pytest.mark.program("openssl")
async def test_lists_and_watches(certificate: tuple[Path, Path]) -> None:
    cert, key = certificate
    server = Server(Config(port=0, tls_cert_file=str(cert), tls_private_key_file=str(key)))
    await server.start()
    context = ssl.create_default_context(cafile=str(cert))
    async with aiohttp.ClientSession(server.url, connector=aiohttp.TCPConnector(ssl=context)) as api:
        async with api.get("/api/v1/namespaces") as r:
            assert len((await r.json())["items"]) == 4
        async with api.get("/api/v1/namespaces?watch=1&timeoutSeconds=1") as r:
            assert (await r.text()).count('"ADDED"') == 4
    await server.stop()


def test_a_missing_certificate_is_one_line(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.pem")
    done = subprocess.run(
        command("serve", "--port", "0", "--tls-cert-file", missing), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("hydrofoil: cannot use the TLS certificate: ")
    assert done.stderr.count("\n") == 1
