"""The admission plug-ins of certificates: rights to approve, sign and attest (plugin/pkg/admission/certificates)."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import orjson

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.certificate_request import RequestError, subject
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.rights import may_use
from hydrofoil.apis.catalog import Resource
from hydrofoil.go_text import quote
from hydrofoil.registry.write import Operation

REQUESTS = ("certificates.k8s.io", "certificatesigningrequests")
BUNDLES = ("certificates.k8s.io", "clustertrustbundles")
CLIENT = "kubernetes.io/kube-apiserver-client"
MASTERS = "system:masters"


def _old(a: Attributes) -> dict[str, Any]:
    assert a.old is not None, "an update has an old version"
    found: dict[str, Any] = orjson.loads(a.old.json)
    return found


def _signer(raw: dict[str, Any]) -> str:
    found: str = raw.get("spec", {}).get("signerName", "")
    return found


class CertificateApproval(Plugin):
    """Require the right `approve` on the signer for an approval."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == REQUESTS and subresource == "approval" and operation == "UPDATE"

    def validate(self, a: Attributes) -> Awaitable[None]:
        """Check the right to the signer of the stored request, not of its new version. Raise ApiError 403."""
        return self._check(a)

    async def _check(self, a: Attributes) -> None:
        signer = _signer(_old(a))
        if not await may_use(a, "approve", signer):
            raise a.forbidden(f"user not permitted to approve requests with signerName {quote(signer)}")


class CertificateSigning(Plugin):
    """Require the right `sign` on the signer for a certificate."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == REQUESTS and subresource == "status" and operation == "UPDATE"

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Check the right where certificate or conditions change. Raise ApiError 403."""
        old, new = _old(a), orjson.loads(a.object.json())
        was, now = old.get("status", {}), new.get("status", {})
        if all((was.get(m) or None) == (now.get(m) or None) for m in ("certificate", "conditions")):
            return None
        return self._check(a, _signer(old))

    async def _check(self, a: Attributes, signer: str) -> None:
        if not await may_use(a, "sign", signer):
            raise a.forbidden(f"user not permitted to sign requests with signerName {quote(signer)}")


class CertificateSubjectRestriction(Plugin):
    """Refuse requests for certificates of administrators."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == REQUESTS and not subresource and operation == "CREATE"

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Check the organizations of a request to the signer of API clients. Raise ApiError 403."""
        spec = orjson.loads(a.object.get(["spec"]) or b"{}")
        return self._check(a, spec.get("request") or "") if spec.get("signerName") == CLIENT else None

    async def _check(self, a: Attributes, request: str) -> None:
        try:
            groups = (await subject(request)).organizations
        except RequestError as e:
            raise a.forbidden(f"unable to parse CSR: {e}") from None
        if MASTERS in groups:
            raise a.forbidden(f"use of {CLIENT} signer with {MASTERS} group is not allowed")


class ClusterTrustBundleAttest(Plugin):
    """Require the right `attest` on a signer for its anchors."""

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == BUNDLES and not subresource and operation != "DELETE"

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Check the right where more changes than owners and finalizers. Raise ApiError 403."""
        new = orjson.loads(a.object.json())
        signer = _signer(new)
        if a.old is not None:
            old = _old(a)
            if _signer(old) != signer:
                raise a.forbidden("changing signerName is forbidden")
            if _lasting(old) == _lasting(new):
                return None
        return self._check(a, signer) if signer else None

    async def _check(self, a: Attributes, signer: str) -> None:
        if not await may_use(a, "attest", signer):
            raise a.forbidden(f"user not permitted to attest for signerName {quote(signer)}")


def _lasting(raw: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the members that the garbage collector changes (`IsOnlyMutatingGCFields`)."""
    ignored = ("ownerReferences", "finalizers", "managedFields", "resourceVersion", "generation")
    return {**raw, "metadata": {key: value for key, value in raw["metadata"].items() if key not in ignored}}
