"""Approved requests are signed (`pkg/controller/certificates/signer`)."""

from __future__ import annotations

import asyncio
import base64
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.certificates.authority import sign
from hydrofoil.controllers.certificates.request import SIGNERS, Unreadable, read_request, why_not_signed
from hydrofoil.controllers.conditions import put_condition
from hydrofoil.controllers.objects.signing_requests import CertificateSigningRequest
from hydrofoil.controllers.options import ControllerOptions
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Draft
from hydrofoil.errors import ApiError

GROUP, PLURAL = "certificates.k8s.io", "certificatesigningrequests"
LEAST = 600.0
"""The least seconds that a certificate is valid."""


class RequestController(Controller):
    """A controller of requests for certificates. A key is the name of one."""

    user = service_account("certificate-controller")

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether requests are served."""
        return all_served(catalog, (GROUP, PLURAL))

    def watches(self) -> list[ValueWatch[Any]]:
        return [self.watch(GROUP, PLURAL, CertificateSigningRequest, self._on_request)]

    def _on_request(self, _: CertificateSigningRequest | None, new: CertificateSigningRequest | None) -> None:
        if new is not None:
            self.put(new.metadata.name)

    async def work(self, key: tuple[str, ...]) -> bool:
        (name,) = key
        request = self.lister(GROUP, PLURAL, CertificateSigningRequest).get("", name)
        if request is None:
            return True
        try:
            await self.sync(request)
        except Unreadable:
            # The API has checked it: it is one that only Go reads.
            return True
        except ApiError as e:
            # Another version has come meanwhile: its event queues the key.
            if e.code not in (404, 409):
                raise
        return True

    async def sync(self, request: CertificateSigningRequest) -> None:
        """Process a request. Raise Unreadable and ApiError."""
        raise NotImplementedError

    async def change(self, request: CertificateSigningRequest, change: Any, subresource: str) -> None:
        """Write a request that has not changed since it was looked at."""
        meta = request.metadata
        resource = self.resource(GROUP, PLURAL)
        version = meta.resource_version
        await self.client.update(resource, "", meta.name, change, version=version, subresource=subresource)


class Signer(RequestController):
    """Sign requests with the authority of `--cluster-signing-cert-file`."""

    name = "csrsigning"

    def __init__(self, runtime: Runtime, options: ControllerOptions) -> None:
        super().__init__(runtime)
        self._options = options

    async def sync(self, request: CertificateSigningRequest) -> None:
        approved, failed = request.condition("Approved"), request.condition("Failed")
        if approved is None or failed is not None or request.status.certificate:
            return None
        spec, options = request.spec, self._options
        if spec.signer_name not in SIGNERS:
            return None
        # The library takes 40 ms to load, and a signature some more.
        asked = await asyncio.to_thread(read_request, spec.request)
        now = self.registry.clock.seconds()
        if why := why_not_signed(asked, spec.signer_name, spec.usages):
            condition = {
                "type": "Failed",
                "status": "True",
                "reason": "SignerValidationFailure",
                "message": why,
                "lastUpdateTime": self.registry.clock.text(),
                "lastTransitionTime": self.registry.clock.text(),
            }
            return await self.change(request, partial(put_condition, condition), "status")
        most = options.cluster_signing_duration
        seconds = most if spec.expiration_seconds is None else min(max(spec.expiration_seconds, LEAST), most)
        cert, key = Path(options.cluster_signing_cert_file), Path(options.cluster_signing_key_file)
        pem = await asyncio.to_thread(sign, asked, cert, key, spec.usages, seconds, now)
        value = orjson.dumps(base64.b64encode(pem).decode())

        def change(draft: Draft) -> None:
            draft.set(["status", "certificate"], value)

        return await self.change(request, change, "status")
