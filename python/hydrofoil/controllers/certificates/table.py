"""The controllers of requests for certificates."""

from __future__ import annotations

from hydrofoil.controllers.certificates.approver import Approver
from hydrofoil.controllers.certificates.cleaner import Cleaner
from hydrofoil.controllers.certificates.signer import Signer
from hydrofoil.controllers.descriptor import Dependencies, Descriptor, describe


def _signs(deps: Dependencies) -> bool:
    """Report whether an authority is named: without one nobody signs, as in upstream."""
    options = deps.options
    named = options.cluster_signing_cert_file and options.cluster_signing_key_file
    return bool(named) and Signer.served(deps.registry.catalog)


DESCRIPTORS: tuple[Descriptor, ...] = (
    Descriptor(Signer.name, _signs, lambda runtime, deps: Signer(runtime, deps.options)),
    Descriptor(
        Approver.name,
        lambda deps: Approver.served(deps.registry.catalog),
        lambda runtime, deps: Approver(runtime, deps.admission.authorizer),
    ),
    describe(Cleaner),
)
"""In the order in which they start."""
