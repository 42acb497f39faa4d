"""Resources that store nothing: reviews and bindings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.params import write_options
from hydrofoil.endpoints.respond import Answer
from hydrofoil.endpoints.scope import Scope
from hydrofoil.engine import Draft
from hydrofoil.registry.strategies.base import USER

EVERYTHING = [
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
]
EVERY_URL = [{"verbs": ["*"], "nonResourceURLs": ["*"]}]


def handles(resource: Resource) -> bool:
    """Whether a resource is virtual: it is made and answered, never kept."""
    return "list" not in resource.verbs


def handler(resource: Resource) -> Callable[[Scope], Awaitable[Answer]]:
    """The handler of a virtual resource."""
    if resource.plural == "bindings":
        return binding
    return review


async def review(scope: Scope) -> Answer:
    """Fills the status of a review with what a cluster admin gets (URI-16)."""
    options = write_options(scope.params, "CreateOptions")
    draft = await body.read(scope, scope.resource.native, options)
    body.check_namespace(scope, draft)
    draft.set_type()
    if causes := draft.validate():
        causes = [c for c in causes if not c[2].startswith("metadata")]
        if causes:
            raise errors.invalid(scope.resource.group, scope.resource.kind, draft.head()[2], causes)
    draft.set(["status"], orjson.dumps(_verdict(scope, draft)))
    return scope.json_answer(draft.json() + b"\n", 201)


def _verdict(scope: Scope, draft: Draft) -> dict[str, Any]:
    spec = orjson.loads(draft.get(["spec"]) or b"{}")
    match scope.resource.kind:
        case "SelfSubjectReview":
            return {"userInfo": USER}
        case "SelfSubjectRulesReview":
            return {"resourceRules": EVERYTHING, "nonResourceRules": EVERY_URL, "incomplete": False}
        case "TokenReview":
            return {"user": {}, "error": "[invalid bearer token, unknown]"}
        case "SelfSubjectAccessReview":
            return {"allowed": True}
    admin = "system:masters" in spec.get("groups", ())
    return {"allowed": admin}


async def binding(scope: Scope) -> Answer:
    """POST of a Binding to the collection: the name is the pod's (URI-18)."""
    from hydrofoil.endpoints.handlers.pods import bind

    return await bind(scope)
