"""Rights that plug-ins ask for."""

from __future__ import annotations

from hydrofoil.admission.attributes import Attributes
from hydrofoil.request import Verdict, attributes, decide


async def decision(
    a: Attributes,
    verb: str,
    group: str,
    resource: str,
    *,
    version: str = "*",
    subresource: str = "",
    namespace: str = "",
    name: str = "",
) -> Verdict:
    """Return the decision on a further right of the user of a write."""
    info = attributes(verb, group, resource, version=version, subresource=subresource, namespace=namespace, name=name)
    return await decide(a.authorizer, a.user, info)


async def allows(
    a: Attributes, verb: str, group: str, resource: str, *, version: str = "*", namespace: str = "", name: str = ""
) -> bool:
    """Report whether the user of a write has a further right."""
    made = await decision(a, verb, group, resource, version=version, namespace=namespace, name=name)
    return made.allowed


async def may_use(a: Attributes, verb: str, signer: str) -> bool:
    """Report whether the user may approve, sign or attest for a signer (pkg/apis/certificates `authorization.go`).

    A right to `example.com/*` covers the signers of a domain; a wildcard of other forms is a name like any other.
    """
    group = "certificates.k8s.io"
    if await allows(a, verb, group, "signers", name=signer):
        return True
    return await allows(a, verb, group, "signers", name=f"{signer.partition('/')[0]}/*")
