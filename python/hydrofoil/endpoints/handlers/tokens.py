"""TokenRequest of a service account."""

from __future__ import annotations

import base64
import secrets
import time

import orjson

from hydrofoil import errors
from hydrofoil.endpoints.handlers import body
from hydrofoil.endpoints.params import write_options
from hydrofoil.endpoints.respond import Answer
from hydrofoil.endpoints.scope import Scope
from hydrofoil.registry.store import new_uid
from hydrofoil.registry.strategies.base import now

TOKEN_REQUEST = "io.k8s.api.authentication.v1.TokenRequest"
LEAST_SECONDS = 600


def _part(data: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(data)).rstrip(b"=").decode()


async def create(scope: Scope) -> Answer:
    """A token with the claims that a client reads; nobody verifies it until there is authentication."""
    options = write_options(scope.params, "CreateOptions")
    native = scope.registry.catalog.kind("authentication.k8s.io", "v1", "TokenRequest", TOKEN_REQUEST)
    draft = await body.read(scope, native, options)
    info = scope.info
    account = scope.registry.get(scope.resource, info.namespace, info.name)
    draft.set_type()
    seconds = int(draft.get(["spec", "expirationSeconds"]) or b"3600")
    if seconds < LEAST_SECONDS:
        text = f"Invalid value: {seconds}: may not specify a duration less than 10 minutes"
        cause = ("FieldValueInvalid", text, "spec.expirationSeconds")
        raise errors.invalid("authentication.k8s.io", "TokenRequest", info.name, [cause])
    draft.set(["spec", "expirationSeconds"], b"%d" % seconds)
    if not draft.get(["spec", "audiences"]):
        draft.set(["spec", "audiences"], orjson.dumps([scope.registry.issuer]))
    issued = int(time.time())
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
    token = f"{_part({'alg': 'none'})}.{_part(claims)}.{secrets.token_urlsafe(16)}"
    draft.set(["metadata", "name"], orjson.dumps(info.name))
    draft.set(["metadata", "uid"], orjson.dumps(new_uid()))
    draft.set(["metadata", "creationTimestamp"], now())
    draft.set(["metadata", "namespace"], orjson.dumps(info.namespace))
    draft.set(["status"], b'{"token":%s,"expirationTimestamp":%s}' % (orjson.dumps(token), now(seconds)))
    return scope.json_answer(draft.json() + b"\n", 201)
