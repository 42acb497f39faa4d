"""A client of the API for commands: one request after the other."""

from __future__ import annotations

import asyncio
import http.client
import ssl
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from hydrofoil.cli.failure import USAGE, WRONG, Failure
from hydrofoil.clock import stopwatch
from hydrofoil.controls.apply import SERVED_SECONDS
from hydrofoil.outbound.kubeconfig import Access

TIMEOUT = 60.0
LOOK_SECONDS = 0.05


class Reply(NamedTuple):
    """An answer."""

    status: int
    body: bytes


class Found(NamedTuple):
    """A resource, as discovery shows it."""

    group: str
    version: str
    plural: str
    namespaced: bool
    subresources: frozenset[str]


class Client:
    """Requests to one server."""

    def __init__(self, access: Access) -> None:
        """Raise Failure for an address or certificates that have no meaning."""
        self._access = access
        self._connection = connection_to(access)
        self._kinds: dict[str, dict[str, Found]] = {}

    async def ask(self, method: str, target: str, media: str, body: bytes) -> Reply:
        """Send a request; return its answer. Raise Failure if there is none."""
        headers = {"Content-Type": media, "Accept": "application/json", "User-Agent": "hydrofoil"}
        if self._access.authorization:
            headers["Authorization"] = self._access.authorization
        try:
            self._connection.request(method, target, body, headers)
            answer = self._connection.getresponse()
            return Reply(answer.status, json_of(answer))
        except (OSError, http.client.HTTPException) as e:
            self._connection.close()
            why = e.strerror if isinstance(e, OSError) and e.strerror else str(e) or type(e).__name__
            raise Failure(f"no answer from {self._access.url}: {why}", "hydrofoil ls lists servers", WRONG) from None

    async def find(self, group: str, version: str, kind: str, coming: bool) -> Found | None:
        """Return the resource of a kind; one that is coming is waited for. None if none is served."""
        until = stopwatch() + (SERVED_SECONDS if coming else 0.0)
        while (found := (await self._served(group, version)).get(kind)) is None and stopwatch() < until:
            await asyncio.to_thread(wait)
            self._kinds.clear()
        return found

    async def _served(self, group: str, version: str) -> dict[str, Found]:
        """Return the resources of a version by their kinds."""
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        if path not in self._kinds:
            reply = await self.ask("GET", path, "application/json", b"")
            resources: list[dict[str, Any]] = []
            if reply.status == 200:
                resources = orjson.loads(reply.body)["resources"]
            elif reply.status != 404:
                raise Failure(f"{self._access.url}{path}: {orjson.loads(reply.body).get('message', '')}", code=WRONG)
            names = {resource["name"] for resource in resources}
            self._kinds[path] = {
                resource["kind"]: Found(group, version, name, resource["namespaced"], below(names, name))
                for resource in resources
                if "/" not in (name := resource["name"])
            }
        return self._kinds[path]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def connection_to(access: Access) -> http.client.HTTPConnection:
    """Return a connection to a server, not open yet. Raise Failure for an address or certificates without a meaning."""
    try:
        parts = urlsplit(access.url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Failure(f"{access.url!r} is no URL of a server", "such as http://127.0.0.1:8080", USAGE)
    if parts.scheme == "http":
        return http.client.HTTPConnection(parts.hostname, port, timeout=TIMEOUT)
    return http.client.HTTPSConnection(parts.hostname, port, timeout=TIMEOUT, context=trust(access))


def wait() -> None:
    """Wait a moment for another look."""
    import time

    time.sleep(LOOK_SECONDS)


def below(names: set[str], plural: str) -> frozenset[str]:
    """Return the subresources of a resource."""
    return frozenset(name.partition("/")[2] for name in names if name.startswith(f"{plural}/"))


def json_of(answer: http.client.HTTPResponse) -> bytes:
    """Return the body of an answer, or a Status if it is none of the API."""
    body = answer.read()
    if body.startswith(b"{"):
        return body
    text = body.decode(errors="replace").strip().partition("\n")[0] or answer.reason
    return orjson.dumps({"kind": "Status", "message": f"{answer.status}: {text}", "reason": answer.reason})


def trust(access: Access) -> ssl.SSLContext:
    """Return the authorities and the certificate of a client. Raise Failure."""
    try:
        context = ssl.create_default_context(cadata=access.ca.decode() or None)
        if access.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if access.certificate:
            # The library takes files alone.
            with tempfile.NamedTemporaryFile(prefix="hydrofoil-") as file:
                file.write(access.certificate + b"\n" + access.key)
                file.flush()
                context.load_cert_chain(Path(file.name))
        return context
    except (OSError, ValueError) as e:
        raise Failure(f"cannot use the certificates for {access.url}: {e}", "check the kubeconfig", USAGE) from None
