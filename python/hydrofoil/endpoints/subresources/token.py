"""TokenRequest of a service account."""

from __future__ import annotations

import orjson

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.authentication.accounts.issue import Bound
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.subresources.admitted import admission_of_subresource
from hydrofoil.engine import Draft
from hydrofoil.go_text import quote
from hydrofoil.registry.strategy import now

TOKEN_REQUEST = "io.k8s.api.authentication.v1.TokenRequest"
LEAST_SECONDS = 600
MOST_SECONDS, MOST = 1 << 32, "larger than 2^32 seconds"
BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
"""Objects of the core group that a token may be bound to."""


def _invalid(name: str, text: str, field: str) -> errors.ApiError:
    return errors.invalid("authentication.k8s.io", "TokenRequest", name, [("FieldValueInvalid", text, field)])


def _bound_object(context: Context, draft: Draft) -> Bound:
    """Return what a token is bound to. Raise ApiError 400, 404 and 409."""
    reference = orjson.loads(draft.get(["spec", "boundObjectRef"]) or b"null")
    if not reference:
        return Bound()
    kind, name = reference.get("kind", ""), reference.get("name", "")
    group, _, version = reference.get("apiVersion", "").rpartition("/")
    catalog = context.registry.catalog
    resource = catalog.find("", "v1", BOUND[kind]) if not group and kind in BOUND else None
    if resource is None:
        text = f"{group}/{version}, Kind={kind}"
        raise errors.bad_request(f"cannot bind token to object of type {text}")
    found = context.registry.get(resource, context.info.namespace if resource.namespaced else "", name)
    spec = orjson.loads(found.json).get("spec", {}) if kind == "Pod" else {}
    if kind == "Pod" and spec.get("serviceAccountName", "") != context.info.name:
        text = "to pod running with different serviceaccount name."
        raise errors.bad_request(f'cannot bind token for serviceaccount "{context.info.name}" {text}')
    if (uid := reference.get("uid")) and uid != found.uid:
        text = f"the UID in the bound object reference ({uid}) does not match the UID in record. "
        text += "The object might have been deleted and then recreated"
        raise errors.conflict(group, kind, name, text)
    bound = (found.name, found.uid)
    if kind == "Secret":
        return Bound(secret=bound)
    if kind == "Node":
        return Bound(node=bound)
    on: str = spec.get("nodeName", "")
    node = context.registry.find("", "nodes", "", on) if on else None
    return Bound(pod=bound, node=(on, node.uid if node is not None else "") if on else None)


async def create(context: Context) -> Answer:
    """Return a token of the account (`pkg/registry/core/serviceaccount/storage/token.go`)."""
    native = context.registry.catalog.kind("authentication.k8s.io", "v1", "TokenRequest", TOKEN_REQUEST)
    received = await body.read(context, native, "CreateOptions")
    draft, options = received.draft, received.options
    admission = admission_of_subresource(context, context.resource, dry_run=options.dry_run)
    await admission.mutate(draft)
    info = context.info
    account = context.registry.get(context.resource, info.namespace, info.name)
    if draft.get(["spec", "expirationSeconds"]) is None:
        draft.set(["spec", "expirationSeconds"], b"3600")
    clock, issue = context.parts.clock, context.parts.authentication.issue
    draft.set_managed_fields(clock.native, context.manager(), "token")
    draft.set_type()
    meta = draft.metadata()
    if meta.name and meta.name != info.name:
        text = f"Invalid value: {quote(meta.name)}: must match the service account name if specified"
        raise _invalid(info.name, text, "metadata.name")
    if meta.uid and meta.uid != account.uid:
        text = (
            f"the UID in the token request ({meta.uid}) does not match the UID of the service account ({account.uid})"
        )
        raise errors.conflict("authentication.k8s.io", "TokenRequest", info.name, text)
    seconds = int(draft.get(["spec", "expirationSeconds"]) or b"0")
    for wrong, limit in ((seconds < LEAST_SECONDS, "less than 10 minutes"), (seconds > MOST_SECONDS, MOST)):
        if wrong:
            text = f"Invalid value: {seconds}: may not specify a duration {limit}"
            raise _invalid("", text, "spec.expirationSeconds")
    await admission.validate(draft)
    bound = _bound_object(context, draft)
    if issue.longest and seconds > issue.longest:
        text = f"requested expiration of {seconds} seconds shortened to {issue.longest} seconds"
        context.warnings.append(text)
        seconds = issue.longest
    draft.set(["spec", "expirationSeconds"], b"%d" % seconds)
    audiences = tuple(orjson.loads(draft.get(["spec", "audiences"]) or b"[]")) or issue.audiences
    draft.set(["spec", "audiences"], orjson.dumps(audiences))
    token = await issue.token(account, bound, seconds, audiences)
    draft.set(["metadata", "name"], orjson.dumps(info.name))
    draft.set(["metadata", "uid"], orjson.dumps(account.uid))
    draft.set(["metadata", "creationTimestamp"], now(clock))
    draft.set(["metadata", "namespace"], orjson.dumps(info.namespace))
    draft.set(["status"], b'{"token":%s,"expirationTimestamp":%s}' % (orjson.dumps(token), now(clock, seconds)))
    return respond.json(context, draft.json() + b"\n", 201)
