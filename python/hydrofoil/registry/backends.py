"""Connections to the services behind API services (kube-aggregator `pkg/apiserver`, apiserver `pkg/util/proxy`).

There is no cluster network: a service is reached where `--service-endpoints` says, else at a ready endpoint of its
slices (as upstream does with `--enable-aggregator-routing`), and one of type ExternalName by its name.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import aiohttp
import orjson

from hydrofoil import client
from hydrofoil.apis.registration import Service
from hydrofoil.engine import Selector

if TYPE_CHECKING:
    from hydrofoil.registry.store import Registry

SERVICE_NAME = "kubernetes.io/service-name"
Object = dict[str, Any]


class Unreachable(Exception):
    """No connection: the text tells why, as Go's client does."""


def address(host: str, port: int) -> str:
    """`host:port`, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def reason(error: BaseException, where: str) -> str:
    """What Go's client says of a failed connection to `host:port`."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"tls: failed to verify certificate: x509: {certificate_reason(error.certificate_error)}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {certificate_reason(error)}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"dial tcp: lookup {where.rpartition(':')[0]}: no such host"
    if isinstance(error, aiohttp.ClientConnectorError | ConnectionRefusedError):
        text = (getattr(error, "os_error", error).strerror or "connection refused").lower()
        return f"dial tcp {where}: connect: {text if 'errno' not in text else 'connection refused'}"
    if isinstance(error, TimeoutError):
        return "context deadline exceeded"
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
        return "EOF"
    return str(error) or type(error).__name__


def certificate_reason(error: BaseException) -> str:
    """What Go says of a certificate that it does not trust."""
    text = getattr(error, "verify_message", "") or str(error)
    if "expired" in text:
        return "certificate has expired or is not yet valid"
    if "mismatch" in text or "not valid for" in text:
        return "certificate is not valid for any names"
    return "certificate signed by unknown authority"


class Backends:
    """Where services are, and sessions with those that API services name."""

    def __init__(self, registry: Registry, endpoints: dict[str, str]) -> None:
        self._registry = registry
        self._endpoints = endpoints
        self._sessions: dict[Service, aiohttp.ClientSession] = {}

    def named(self, service: Service) -> bool:
        """Whether a flag says where a service is: then its objects need not be there."""
        return f"{service.namespace}/{service.name}" in self._endpoints

    def object(self, service: Service) -> Object | None:
        """The Service object."""
        resource = self._registry.catalog.find("", "v1", "services")
        if resource is None:
            return None
        found = self._registry.collection(resource).get(resource.native, service.namespace, service.name)
        return None if found is None else orjson.loads(found.json)

    def slices(self, service: Service) -> list[Object]:
        """The endpoint slices of a service."""
        resource = self._registry.catalog.find("discovery.k8s.io", "v1", "endpointslices")
        if resource is None:
            return []
        chosen = Selector(resource.native, service.namespace, f"{SERVICE_NAME}={service.name}", "")
        cursor = self._registry.collection(resource).list(resource.native, chosen, "json", 0, 0, "")
        return [orjson.loads(s.json) for s in cursor.versions(2**31)]

    def locate(self, service: Service) -> str:
        """`host:port` of a service. Raises Unreachable."""
        if (found := self._endpoints.get(f"{service.namespace}/{service.name}")) is not None:
            return found
        body = self.object(service)
        if body is None:
            raise Unreachable(f'service "{service.name}" not found')
        spec = body.get("spec", {})
        if spec.get("type") == "ExternalName":
            return address(spec.get("externalName", ""), service.port)
        port = next((p for p in spec.get("ports") or () if p.get("port") == service.port), None)
        if port is None:
            raise Unreachable(f'no service port {service.port} found for service "{service.name}"')
        for found_slice in self.slices(service):
            number = port_number(found_slice, port.get("name", ""))
            host = next((a for e in ready(found_slice) for a in e.get("addresses") or ()), None)
            if number is not None and host is not None:
                return address(host, number)
        raise Unreachable(f'no endpoints available for service "{service.name}"')

    def context(self, service: Service) -> ssl.SSLContext:
        """Whom the certificate of a service must be signed by. Raises Unreachable."""
        try:
            context = ssl.create_default_context(cadata=service.ca.decode() if service.ca else None)
        except (ssl.SSLError, ValueError):
            raise Unreachable("unable to load root certificates: unable to parse bytes as PEM block") from None
        if service.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    async def session(self, service: Service) -> aiohttp.ClientSession:
        """A session with a service. Raises Unreachable."""
        await client.ready()
        found = self._sessions.get(service)
        if found is None:
            # The roots of the system take 20 ms to read.
            context = await asyncio.to_thread(self.context, service)
            found = self._sessions.get(service)
        if found is None:
            connector = aiohttp.TCPConnector(ssl=context, limit=0)
            found = aiohttp.ClientSession(
                connector=connector,
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None),
                skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
            self._sessions[service] = found
        return found

    async def keep(self, used: Iterable[Service]) -> None:
        """Closes the sessions with services that no API service names any more."""
        wanted = set(used)
        gone = [self._sessions.pop(s) for s in list(self._sessions) if s not in wanted]
        await asyncio.gather(*(session.close() for session in gone))


def ready(found: Object) -> list[Object]:
    """The ready endpoints of a slice."""
    return [e for e in found.get("endpoints") or () if e.get("conditions", {}).get("ready", True)]


def port_number(found: Object, name: str) -> int | None:
    """The number that a slice gives a port name."""
    ports = found.get("ports") or ()
    return next((p["port"] for p in ports if p.get("name", "") == name and p.get("port") is not None), None)


def identity(user: str, uid: str = "", groups: Iterable[str] = ()) -> list[tuple[str, str]]:
    """The headers that tell a service who asks (client-go `transport.SetAuthProxyHeaders`)."""
    uids = [("X-Remote-Uid", uid)] if uid else []
    return [("X-Remote-User", user), *uids, *(("X-Remote-Group", group) for group in groups)]
