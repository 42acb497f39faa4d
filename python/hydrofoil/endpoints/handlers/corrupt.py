"""DELETE of an object whose stored value cannot be read (apiserver `endpoints/handlers/delete.go`)."""

from __future__ import annotations

import orjson

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.registry.rights import decision
from hydrofoil.registry.write import Write
from hydrofoil.request import attributes

VERB = "unsafe-delete-ignore-read-errors"
ANNOTATION = "apiserver.k8s.io/unsafe-delete-ignore-read-error"
RBAC = "rbac.authorization.k8s.io"
RULES = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
KEPT = frozenset((("", "namespaces"), *((RBAC, plural) for plural in RULES)))
"""Resources whose storage upstream wraps without a way to this deletion."""
NO_DELETER = "no unsafe deleter provided, can not honor ignoreStoreReadErrorWithClusterBreakingPotential"


async def delete_corrupt(context: Context, write: Write) -> Answer | None:
    """Delete the object as it is; None for one that can be read, which is deleted as usual (DEL-09).

    Raise ApiError 403 without the right to that.
    """
    resource, info = context.resource, context.info
    if context.audit is not None:
        context.audit.annotate(ANNOTATION, "")
    if resource.storage in KEPT:
        raise errors.log_failure(NO_DELETER)
    wanted = attributes(
        VERB, resource.group, resource.plural, version=resource.version, namespace=info.namespace, name=info.name
    )
    verdict = await decision(write, wanted)
    if not verdict.allowed:
        why = f'not permitted to do "{VERB}", reason: {verdict.reason}'
        if verdict.error:
            why = f'error while checking permission for "{VERB}", {verdict.error}'
        raise errors.forbidden(resource.group, resource.plural, info.name, why)
    if not await context.registry.discard(resource, info.namespace, info.name):
        return None
    status: dict[str, object] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    status |= {"details": {"name": info.name, "kind": resource.kind}, "code": 200}
    return respond.json(context, orjson.dumps(status) + b"\n")
