"""Reviews of tokens, access and rules (`pkg/registry/authentication`, `pkg/registry/authorization`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.handlers.review_selectors import ignored
from hydrofoil.endpoints.handlers.subject_rules import rules
from hydrofoil.engine import Draft
from hydrofoil.registry.strategy import now
from hydrofoil.request import User

SYSTEM_FIELDS = ("selfLink", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
"""Metadata that a client may not set on a new object (`WipeObjectMetaSystemFields`)."""


async def review(context: Context) -> Answer:
    """Return a review with the status that a cluster admin gets (URI-16)."""
    draft, _ = await body.read(context, context.resource.native, "CreateOptions")
    body.check_namespace(context, draft)
    draft.set_type()
    draft.set(["metadata", "namespace"], orjson.dumps(context.info.namespace) if context.resource.namespaced else None)
    for filled in SYSTEM_FIELDS:
        draft.set(["metadata", filled], None)
    draft.set_managed_fields(context.parts.clock.native, context.manager())
    if context.resource.kind == "TokenReview" and draft.get(["spec", "token"]) in (None, b'""'):
        raise errors.bad_request("token is required for TokenReview in authentication")
    if context.resource.kind == "SelfSubjectRulesReview" and draft.get(["spec", "namespace"]) in (None, b'""'):
        raise errors.bad_request("no namespace on request")
    if causes := draft.validate():
        # The registries name neither kind nor object.
        raise errors.invalid(context.resource.group, "", "", causes)
    status = _verdict(context, draft)
    if context.resource.kind.startswith("SelfSubject") and "Access" not in context.resource.kind:
        # These registries return an object of their own.
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
            return {"userInfo": shown(context.user)}
        case "SelfSubjectRulesReview":
            return rules(context, context.user, spec["namespace"])
        case "TokenReview":
            return {"user": {}, "error": "invalid bearer token"}
    admin = context.resource.kind == "SelfSubjectAccessReview" or "system:masters" in spec.get("groups", ())
    problem = ignored(context, spec.get("resourceAttributes") or {})
    return {"allowed": admin} | ({"evaluationError": problem} if problem else {})


def shown(user: User) -> dict[str, Any]:
    """Return a user as reviews show it."""
    extra = {"extra": dict(user.extra)} if user.extra else {}
    return {"username": user.name, "uid": user.uid, "groups": list(user.groups), **extra}
