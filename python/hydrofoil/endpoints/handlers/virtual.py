"""Resources that store nothing: reviews, bindings and component statuses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.endpoints.handlers import body, rules
from hydrofoil.endpoints.handlers.components import components
from hydrofoil.endpoints.handlers.pods import bind
from hydrofoil.endpoints.respond import Answer
from hydrofoil.endpoints.scope import Scope
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


def handler(resource: Resource) -> Callable[[Scope], Awaitable[Answer]]:
    """The handler of a virtual resource."""
    if resource.kind == "ComponentStatus":
        return components
    if resource.plural == "bindings":
        return bind
    return review


async def review(scope: Scope) -> Answer:
    """Fills the status of a review with what a cluster admin gets (URI-16)."""
    draft, _ = await body.read(scope, scope.resource.native, "CreateOptions")
    body.check_namespace(scope, draft)
    draft.set_type()
    draft.set(["metadata", "namespace"], orjson.dumps(scope.info.namespace) if scope.resource.namespaced else None)
    for filled in SYSTEM_FIELDS:
        draft.set(["metadata", filled], None)
    draft.own(scope.manager())
    if scope.resource.kind == "TokenReview" and draft.get(["spec", "token"]) in (None, b'""'):
        raise errors.bad_request("token is required for TokenReview in authentication")
    if scope.resource.kind == "SelfSubjectRulesReview" and draft.get(["spec", "namespace"]) in (None, b'""'):
        raise errors.bad_request("no namespace on request")
    if causes := draft.validate():
        # The registries name neither kind nor object.
        raise errors.invalid(scope.resource.group, "", "", causes)
    status = _verdict(scope, draft)
    if scope.resource.kind.startswith("SelfSubject") and "Access" not in scope.resource.kind:
        # These registries answer with an object of their own.
        draft.set(["metadata"], b"{}")
        draft.set(["spec"], None)
        if scope.resource.kind == "SelfSubjectReview":
            draft.set(["metadata", "creationTimestamp"], now())
    draft.set(["status"], orjson.dumps(status))
    return scope.json_answer(draft.json() + b"\n", 201)


def _verdict(scope: Scope, draft: Draft) -> dict[str, Any]:
    spec = orjson.loads(draft.get(["spec"]) or b"{}")
    match scope.resource.kind:
        case "SelfSubjectReview":
            return {"userInfo": USER}
        case "SelfSubjectRulesReview":
            return rules.rules(scope, USER, spec["namespace"])
        case "TokenReview":
            return {"user": {}, "error": "invalid bearer token"}
    admin = scope.resource.kind == "SelfSubjectAccessReview" or "system:masters" in spec.get("groups", ())
    ignored = rules.ignored(scope, spec.get("resourceAttributes") or {})
    return {"allowed": admin} | ({"evaluationError": ignored} if ignored else {})
