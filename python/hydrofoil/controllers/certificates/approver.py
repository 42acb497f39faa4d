"""Requests of kubelets are approved, if their users may ask for them (`pkg/controller/certificates/approver`)."""

from __future__ import annotations

import asyncio
from functools import partial

from hydrofoil.controllers.certificates.request import (
    KUBELET_CLIENT,
    common_name,
    read_request,
    why_no_kubelet_client,
)
from hydrofoil.controllers.certificates.signer import GROUP, PLURAL, RequestController
from hydrofoil.controllers.conditions import put_condition
from hydrofoil.controllers.objects.signing_requests import CertificateSigningRequest
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.request import Authorizer, User, attributes, decide

OWN = "selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."
ANY = "nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."


class Approver(RequestController):
    """Approve requests for client certificates of kubelets."""

    name = "csrapproving"

    def __init__(self, runtime: Runtime, authorizer: Authorizer) -> None:
        super().__init__(runtime)
        self._authorizer = authorizer

    async def sync(self, request: CertificateSigningRequest) -> None:
        spec = request.spec
        decided = request.condition("Approved") or request.condition("Denied")
        if request.status.certificate or decided is not None or spec.signer_name != KUBELET_CLIENT:
            return
        asked = await asyncio.to_thread(read_request, spec.request)
        if why_no_kubelet_client(asked, spec.usages):
            return
        user = User(spec.username, uid=spec.uid, groups=spec.groups, extra=spec.extra)
        for subresource, message in (OWN, ANY) if common_name(asked) == spec.username else (ANY,):
            info = attributes("create", GROUP, PLURAL, version="*", subresource=subresource)
            if not (await decide(self._authorizer, user, info)).allowed:
                continue
            condition = {
                "type": "Approved",
                "status": "True",
                "reason": "AutoApproved",
                "message": message,
                "lastUpdateTime": self.registry.clock.text(),
                "lastTransitionTime": self.registry.clock.text(),
            }
            await self.change(request, partial(put_condition, condition), "approval")
            return
