"""Reviews of tokens, access and rules (`pkg/registry/authentication`, `pkg/registry/authorization`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.authorization.selectors import selection_of_review
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.subresources.admitted import admission_of_subresource
from hydrofoil.engine import Draft
from hydrofoil.registry.rights import MASTERS
from hydrofoil.registry.session import duplicate_owners
from hydrofoil.registry.strategy import now
from hydrofoil.request import Authorizer, RequestInfo, Rules, User, attributes, decide

SYSTEM_FIELDS = ("selfLink", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
"""Metadata that a client may not set on a new object (`WipeObjectMetaSystemFields`)."""


async def review(context: Context) -> Answer:
    """Return a review with its status."""
    received = await body.read(context, context.resource.native, "CreateOptions")
    draft, options = received.draft, received.options
    draft.set_type()
    draft.set(["metadata", "namespace"], orjson.dumps(context.info.namespace) if context.resource.namespaced else None)
    for filled in SYSTEM_FIELDS:
        draft.set(["metadata", filled], None)
    if duplicates := draft.dedup_owners():
        context.warnings.append(duplicate_owners(duplicates))
    draft.set_managed_fields(context.parts.clock.native, context.manager())
    admission = admission_of_subresource(context, context.resource, dry_run=options.dry_run)
    await admission.mutate(draft)
    await admission.validate(draft)
    if context.resource.kind == "TokenReview" and draft.get(["spec", "token"]) in (None, b'""'):
        raise errors.bad_request("token is required for TokenReview in authentication")
    if context.resource.kind == "SelfSubjectRulesReview" and draft.get(["spec", "namespace"]) in (None, b'""'):
        raise errors.bad_request("no namespace on request")
    if causes := draft.validate():
        # The registries name neither kind nor object.
        raise errors.invalid(context.resource.group, "", "", causes)
    status = await _status(context, draft)
    if context.resource.kind.startswith("SelfSubject") and "Access" not in context.resource.kind:
        # These registries return an object of their own.
        draft.set(["metadata"], b"{}")
        draft.set(["spec"], None)
        if context.resource.kind == "SelfSubjectReview":
            draft.set(["metadata", "creationTimestamp"], now(context.parts.clock))
    draft.set(["status"], orjson.dumps(status))
    if context.accepted.transform:
        return respond.object_answer(context, draft.preview(0), 201)
    made = draft.json()
    for member in (b"resourceRules", b"nonResourceRules"):
        # A user without rules has lists of none.
        made = made.replace(b'"%s":null' % member, b'"%s":[]' % member) if member.decode() in status else made
    return respond.json(context, made + b"\n", 201)


async def _token(context: Context, spec: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the status of a TokenReview (`pkg/registry/authentication/tokenreview/storage.go`).

    Members of the given status stay where the outcome has no value for them.
    """
    found = await context.parts.authentication.review(spec["token"], spec.get("audiences") or ())
    if found.login is None:
        return {"user": {}} | given | {"authenticated": False} | ({"error": found.error} if found.error else {})
    context.warnings.extend(found.login.warnings)
    given.pop("audiences", None)
    audiences = {"audiences": list(found.login.audiences)} if found.login.audiences else {}
    return given | {"authenticated": True, "user": encode_user(found.login.user)} | audiences


async def _status(context: Context, draft: Draft) -> dict[str, Any]:
    spec = orjson.loads(draft.get(["spec"]) or b"{}")
    match context.resource.kind:
        case "SelfSubjectReview":
            return {"userInfo": encode_user(context.user)}
        case "SelfSubjectRulesReview":
            return await rules(context, spec["namespace"])
        case "TokenReview":
            return await _token(context, spec, orjson.loads(draft.get(["status"]) or b"{}"))
        case "SelfSubjectAccessReview":
            return await access(context.authorizer, context.user, spec)
    extra = {key: tuple(values or ()) for key, values in (spec.get("extra") or {}).items()}
    user = User(spec.get("user", ""), spec.get("uid", ""), tuple(spec.get("groups") or ()), extra)
    return await access(context.parts.others, user, spec)


async def access(authorizer: Authorizer, user: User, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the status of a review: the decision on a user's right (`pkg/registry/authorization`)."""
    wanted, ignored = spec.get("resourceAttributes"), ""
    if wanted is not None:
        info = attributes(
            wanted.get("verb", ""),
            wanted.get("group", ""),
            wanted.get("resource", ""),
            version=wanted.get("version") or "*",
            subresource=wanted.get("subresource", ""),
            namespace=wanted.get("namespace", ""),
            name=wanted.get("name", ""),
        )
        info.selection, ignored = selection_of_review(wanted)
    else:
        path = spec.get("nonResourceAttributes") or {}
        info = RequestInfo(path.get("path", ""), "", path.get("verb", ""), resourceful=False)
    verdict = await decide(authorizer, user, info)
    problem = "; ".join(filter(None, (verdict.error, ignored)))
    status: dict[str, Any] = {"allowed": verdict.allowed}
    if verdict.denied:
        status["denied"] = True
    if verdict.reason:
        status["reason"] = verdict.reason
    if problem:
        status["evaluationError"] = problem
    return status


def encode_user(user: User) -> dict[str, Any]:
    """Return a user as reviews show it."""
    extra = {"extra": dict(user.extra)} if user.extra else {}
    return {"username": user.name, "uid": user.uid, "groups": list(user.groups), **extra}


async def rules(context: Context, namespace: str) -> dict[str, Any]:
    """Return the status of a SelfSubjectRulesReview (`selfsubjectrulesreview/rest.go`)."""
    # The rules of an administrator are those of its role, even where nothing asks for them.
    authorizer = context.parts.others if MASTERS in context.user.groups else context.authorizer
    made = authorizer.rules(context.user, namespace)
    found = made if isinstance(made, Rules) else await made
    status: dict[str, Any] = {
        "resourceRules": found.resources,
        "nonResourceRules": found.urls,
        "incomplete": found.incomplete,
    }
    if found.error:
        status["evaluationError"] = found.error
    return status
