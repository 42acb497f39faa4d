"""Resources that store nothing: reviews, bindings and component statuses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.apis.catalog import Resource
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body, rules
from hydrofoil.endpoints.handlers.components import components
from hydrofoil.endpoints.handlers.pods import bind
from hydrofoil.engine import Draft
from hydrofoil.registry.strategies.base import USER, now

SYSTEM_FIELDS = ("selfLink", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
"""What no client may say of a new object (`WipeObjectMetaSystemFields`)."""


def handles(resource: Resource) -> bool:
    """Whether a resource is virtual: it is made and answered, never kept."""
    return "list" not in resource.verbs or resource.kind == "ComponentStatus"


def tabled(resource: Resource, subresource: str) -> bool:
    """Whether what is made of a resource can be shown as a Table: upstream's storage of these prints nothing."""
    return subresource not in ("binding", "eviction", "token") and not handles(resource)


def handler(resource: Resource) -> Callable[[Context], Awaitable[Answer]]:
    """The handler of a virtual resource."""
    if resource.kind == "ComponentStatus":
        return components
    if resource.plural == "bindings":
        return bind
    return review


async def review(context: Context) -> Answer:
    """Fills the status of a review with what a cluster admin gets (URI-16)."""
    draft, _ = await body.read(context, context.resource.native, "CreateOptions")
    body.check_namespace(context, draft)
    draft.set_type()
    draft.set(["metadata", "namespace"], orjson.dumps(context.info.namespace) if context.resource.namespaced else None)
    for filled in SYSTEM_FIELDS:
        draft.set(["metadata", filled], None)
    draft.own(context.parts.clock.native, context.manager())
    if context.resource.kind == "TokenReview" and draft.get(["spec", "token"]) in (None, b'""'):
        raise errors.bad_request("token is required for TokenReview in authentication")
    if context.resource.kind == "SelfSubjectRulesReview" and draft.get(["spec", "namespace"]) in (None, b'""'):
        raise errors.bad_request("no namespace on request")
    if causes := draft.validate():
        # The registries name neither kind nor object.
        raise errors.invalid(context.resource.group, "", "", causes)
    status = _verdict(context, draft)
    if context.resource.kind.startswith("SelfSubject") and "Access" not in context.resource.kind:
        # These registries answer with an object of their own.
        draft.set(["metadata"], b"{}")
        draft.set(["spec"], None)
        if context.resource.kind == "SelfSubjectReview":
            draft.set(["metadata", "creationTimestamp"], now(context.parts.clock))
    draft.set(["status"], orjson.dumps(status))
    return respond.json(context, draft.json() + b"\n", 201)


def _verdict(context: Context, draft: Draft) -> dict[str, Any]:
    spec = orjson.loads(draft.get(["spec"]) or b"{}")
    match context.resource.kind:
        case "SelfSubjectReview":
            return {"userInfo": USER}
        case "SelfSubjectRulesReview":
            return rules.rules(context, USER, spec["namespace"])
        case "TokenReview":
            return {"user": {}, "error": "invalid bearer token"}
    admin = context.resource.kind == "SelfSubjectAccessReview" or "system:masters" in spec.get("groups", ())
    ignored = rules.ignored(context, spec.get("resourceAttributes") or {})
    return {"allowed": admin} | ({"evaluationError": ignored} if ignored else {})
