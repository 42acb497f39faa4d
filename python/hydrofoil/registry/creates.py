"""The right to create, of an update or apply that makes its object (`handlers/update.go withAuthorization`)."""

from __future__ import annotations

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.registry.rights import decision
from hydrofoil.registry.write import Write
from hydrofoil.request import ALWAYS_ALLOW, attributes, refusal


async def check_creates(resource: Resource, namespace: str, write: Write) -> None:
    """Check that the user of a write may create its object. Raise ApiError 403 and 500."""
    if write.authorizer is ALWAYS_ALLOW:
        return
    group, _, version = resource.api_version.rpartition("/")
    info = attributes(
        "create",
        group,
        resource.plural,
        version=version,
        subresource=write.subresource,
        namespace=namespace,
        name=write.name,
    )
    verdict = await decision(write, info)
    if verdict.allowed:
        return
    if verdict.error:
        text = f"Internal error occurred: {verdict.error}"
        raise errors.ApiError(500, "InternalError", text, {"causes": [{"message": verdict.error}]})
    raise refusal(write.user, info, verdict.reason)
