"""TokenRequest of a service account."""

from __future__ import annotations

import base64

import orjson

from hydrofoil import errors
from hydrofoil.answer import Answer
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.context import Context
from hydrofoil.endpoints.handlers import body
from hydrofoil.engine import Draft
from hydrofoil.registry.strategy import now

TOKEN_REQUEST = "io.k8s.api.authentication.v1.TokenRequest"
LEAST_SECONDS = 600
MOST_SECONDS, MOST = 1 << 32, "larger than 2^32 seconds"
BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
"""Objects of the core group that a token may be bound to."""


def _part(data: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(data)).rstrip(b"=").decode()


def _invalid(name: str, text: str, field: str) -> errors.ApiError:
    return errors.invalid("authentication.k8s.io", "TokenRequest", name, [("FieldValueInvalid", text, field)])


def _check_bound(context: Context, draft: Draft) -> None:
    """Check that the object a token is bound to exists. Raise ApiError 400, 404 and 409."""
    reference = orjson.loads(draft.get(["spec", "boundObjectRef"]) or b"null")
    if not reference:
        return
    kind, name = reference.get("kind", ""), reference.get("name", "")
    group, _, version = reference.get("apiVersion", "").rpartition("/")
    resource = context.registry.catalog.find("", "v1", BOUND[kind]) if not group and kind in BOUND else None
    if resource is None:
        text = f"{group}/{version}, Kind={kind}"
        raise errors.bad_request(f"cannot bind token to object of type {text}")
    found = context.registry.get(resource, context.info.namespace if resource.namespaced else "", name)
    account = orjson.loads(found.json).get("spec", {}).get("serviceAccountName", "") if kind == "Pod" else ""
    if kind == "Pod" and account != context.info.name:
        text = "to pod running with different serviceaccount name."
        raise errors.bad_request(f'cannot bind token for serviceaccount "{context.info.name}" {text}')
    if (uid := reference.get("uid")) and uid != found.uid:
        text = f"the UID in the bound object reference ({uid}) does not match the UID in record. "
        text += "The object might have been deleted and then recreated"
        raise errors.conflict(group, kind, name, text)


async def create(context: Context) -> Answer:
    """Return a token with the claims that clients read; it is verified nowhere until there is authentication."""
    native = context.registry.catalog.kind("authentication.k8s.io", "v1", "TokenRequest", TOKEN_REQUEST)
    draft, _ = await body.read(context, native, "CreateOptions")
    info = context.info
    account = context.registry.get(context.resource, info.namespace, info.name)
    if draft.get(["spec", "expirationSeconds"]) is None:
        draft.set(["spec", "expirationSeconds"], b"3600")
    clock = context.parts.clock
    draft.set_managed_fields(clock.native, context.manager(), "token")
    draft.set_type()
    if (given := draft.metadata().name) and given != info.name:
        text = f"Invalid value: {errors.quoted(given)}: must match the service account name if specified"
        raise _invalid(info.name, text, "metadata.name")
    seconds = int(draft.get(["spec", "expirationSeconds"]) or b"0")
    for wrong, limit in ((seconds < LEAST_SECONDS, "less than 10 minutes"), (seconds > MOST_SECONDS, MOST)):
        if wrong:
            text = f"Invalid value: {seconds}: may not specify a duration {limit}"
            raise _invalid("", text, "spec.expirationSeconds")
    _check_bound(context, draft)
    draft.set(["spec", "expirationSeconds"], b"%d" % seconds)
    if not draft.get(["spec", "audiences"]):
        draft.set(["spec", "audiences"], orjson.dumps([context.registry.issuer]))
    issued = int(clock.seconds())
    claims = {
        "aud": orjson.loads(draft.get(["spec", "audiences"]) or b"[]"),
        "exp": issued + seconds,
        "iat": issued,
        "sub": f"system:serviceaccount:{info.namespace}:{info.name}",
        "kubernetes.io": {
            "namespace": info.namespace,
            "serviceaccount": {"name": info.name, "uid": account.uid},
        },
    }
    token = f"{_part({'alg': 'none'})}.{_part(claims)}.{context.parts.chance.token(16)}"
    draft.set(["metadata", "name"], orjson.dumps(info.name))
    draft.set(["metadata", "uid"], orjson.dumps(context.parts.chance.uid()))
    draft.set(["metadata", "creationTimestamp"], now(clock))
    draft.set(["metadata", "namespace"], orjson.dumps(info.namespace))
    draft.set(["status"], b'{"token":%s,"expirationTimestamp":%s}' % (orjson.dumps(token), now(clock, seconds)))
    return respond.json(context, draft.json() + b"\n", 201)
