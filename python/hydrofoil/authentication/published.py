"""The config map from which aggregated servers know authorities (`controller/clusterauthenticationtrust`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import orjson

from hydrofoil.authentication.client_certificates import Authorities
from hydrofoil.authentication.options import CredentialOptions
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import MODIFIED, ApiError, conflict
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.watch.queue import Key, Queue

NAMESPACE, NAME = "kube-system", "extension-apiserver-authentication"
GRACE = timedelta(minutes=5)
"""How long an expired authority stays."""


class Published:
    """Keep the config map in step: several servers write it, and each adds what the others may not know."""

    def __init__(
        self,
        options: CredentialOptions,
        clients: Authorities | None,
        proxies: Authorities | None,
        registry: Registry,
        clock: Clock,
    ) -> None:
        self._options = options
        self._clients = clients
        self._proxies = proxies
        self._registry = registry
        self._clock = clock
        self.queue = Queue("the published authorities", self._work, clock, registry.activity)
        for authorities in filter(None, (clients, proxies)):
            authorities.on_change(self.write)

    def write(self) -> None:
        """Write the config map soon."""
        self.queue.put((NAME,))

    async def close(self) -> None:
        """Stop writing."""
        await self.queue.close()

    async def _work(self, key: Key) -> bool:
        resource = self._registry.catalog.find("", "v1", "configmaps")
        if resource is None:
            return True
        if self._registry.find("", "namespaces", "", NAMESPACE) is None:
            # Right after the start of an empty server.
            return False
        stored = self._registry.collection(resource).get(resource.native, NAMESPACE, NAME)
        present: dict[str, str] = {} if stored is None else orjson.loads(stored.json).get("data") or {}
        data = await asyncio.to_thread(self._combined, present)
        if data == present:
            return True
        try:
            if stored is None:
                body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": NAMESPACE, "name": NAME}}
                draft, _ = resource.native.decode(orjson.dumps({**body, "data": data}), "json")
                await self._registry.create(resource, NAMESPACE, draft, Write(manager="kube-apiserver"))
                return True
            written = stored.revision

            def change(old: Stored) -> Draft:
                if old.revision != written:
                    raise conflict("", "configmaps", NAME, MODIFIED)
                draft = old.thaw()
                draft.set(["data"], orjson.dumps(data))
                return draft

            await self._registry.update(resource, NAMESPACE, NAME, change, Write(manager="kube-apiserver"))
        except ApiError as e:
            if e.code not in (404, 409):
                raise
            return False
        return True

    def _combined(self, present: dict[str, str]) -> dict[str, str]:
        """Return the data with the authorities and names of this server."""
        data = dict(present)
        if self._clients is not None:
            self._add(data, "client-ca-file", self._clients.pem)
        if self._proxies is None:
            return data
        self._add(data, "requestheader-client-ca-file", self._proxies.pem)
        options = self._options
        lists: dict[str, Sequence[str]] = {
            "requestheader-allowed-names": options.requestheader_allowed_names,
            "requestheader-extra-headers-prefix": options.requestheader_extra_headers_prefix,
            "requestheader-group-headers": options.requestheader_group_headers,
            "requestheader-uid-headers": options.requestheader_uid_headers,
            "requestheader-username-headers": options.requestheader_username_headers,
        }
        for name, ours in lists.items():
            every = list(dict.fromkeys((*texts(data.get(name, "")), *ours)))
            if every or name != "requestheader-uid-headers":
                data[name] = orjson.dumps(every).decode()
        return data

    def _add(self, data: dict[str, str], name: str, pem: bytes) -> None:
        """Add authorities to those that are there, each once; expired ones leave."""
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import Encoding

        found: dict[bytes, bytes] = {}
        for text in (data.get(name, "").encode(), pem):
            try:
                certificates = x509.load_pem_x509_certificates(text) if text else []
            except ValueError:
                # Other text there is replaced.
                continue
            for certificate in certificates:
                if certificate.not_valid_after_utc >= self._clock.now() - GRACE:
                    found.setdefault(certificate.public_bytes(Encoding.DER), certificate.public_bytes(Encoding.PEM))
        data[name] = b"".join(found.values()).decode()


def texts(value: str) -> list[str]:
    """Return the texts of a list in JSON; none for anything else."""
    try:
        found = orjson.loads(value) if value else []
    except orjson.JSONDecodeError:
        return []
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []
