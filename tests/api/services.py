"""Services that a server calls: webhooks and API servers behind it."""

from __future__ import annotations

import base64
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import orjson
import pytest
from aiohttp import web

from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from hydrofoil.storage.log import Log

Certificate = tuple[Path, Path, str]
"""The files of a certificate and its key, and the first as a caBundle."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    folder = tmp_path_factory.mktemp("hook")
    cert, key = folder / "cert.pem", folder / "key.pem"
    line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hook"]
    line += ["-addext", "subjectAltName=DNS:hook.system.svc,IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(line, check=True, capture_output=True)
    return cert, key, base64.b64encode(cert.read_bytes()).decode()


@asynccontextmanager
async def listening(
    certificate: Certificate, path: str, handle: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> AsyncIterator[int]:
    """Run a service at a path, over TLS; yield its port."""
    app = web.Application()
    app.router.add_route("*", path, handle)
    runner = web.AppRunner(app)
    await runner.setup()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate[:2])
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    assert site._server is not None
    yield site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    await runner.cleanup()


@asynccontextmanager
async def reaching(port: int, log: Log | None = None) -> AsyncIterator[aiohttp.ClientSession]:
    """Yield a client of a server that finds the service `system/hook` at a port."""
    server = Server(Config(port=0, service_endpoints={"system/hook": f"127.0.0.1:{port}"}), log)
    await server.start()
    async with aiohttp.ClientSession(server.url, headers={"Content-Type": "application/json"}) as session:
        yield session
    await server.stop()


def discovery_of_flunders(*verbs: str) -> web.Response:
    """Return the aggregated discovery of a server of `flunders`, which have some verbs."""
    kind = {"group": "", "version": "", "kind": "Flunder"}
    resource = {"resource": "flunders", "responseKind": kind, "scope": "Namespaced", "verbs": verbs}
    versions = [{"version": "v1", "resources": [resource]}]
    items = [{"metadata": {"name": "wardle.example.com"}, "versions": versions}]
    body = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": items}
    media = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    return web.Response(body=orjson.dumps(body), headers={"Content-Type": media})
