"""Rights that are checked inside a write."""

from __future__ import annotations

from hydrofoil.apis.catalog import Resource
from hydrofoil.errors import ApiError
from hydrofoil.registry.write import Write
from hydrofoil.request import ALWAYS_ALLOW, RequestInfo, User, Verdict, attributes, decide, refusal

MASTERS = "system:masters"


def exempt(write: Write) -> bool:
    """Report whether a write needs no further right: bookkeeping of the server, an open server, `system:masters`."""
    return write.admit is None or write.authorizer is ALWAYS_ALLOW or MASTERS in write.user.groups


async def decision(write: Write, info: RequestInfo) -> Verdict:
    """Return the decision on a right of the user of a write."""
    return await decide(write.authorizer, write.user, info)


def refuse(write: Write, info: RequestInfo, verdict: Verdict) -> ApiError:
    """Return the 403 for a right that the user lacks, with the error that led to it."""
    return refusal(write.user, info, ": ".join(filter(None, (verdict.error, verdict.reason))))


def go_text(user: User) -> str:
    """Return a user as Go's `%v` does."""
    extra = " ".join(f"{key}:[{' '.join(user.extra[key])}]" for key in sorted(user.extra))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"


async def check_create(resource: Resource, namespace: str, write: Write) -> None:
    """Check that the user of an update or apply may create its object. Raise ApiError 403 and 500.

    (`handlers/update.go withAuthorization`: the right is asked for after validation.)
    """
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
        raise ApiError(500, "InternalError", text, {"causes": [{"message": verdict.error}]})
    raise refusal(write.user, info, verdict.reason)
