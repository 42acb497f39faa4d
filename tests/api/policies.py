"""Admission policies."""

from __future__ import annotations

from typing import Any

import aiohttp

from tests.api.calls import post
from tests.api.hooks import CREATES, GROUP

Object = dict[str, Any]


async def bound(api: aiohttp.ClientSession, kind: str, name: str, spec: Object, **binding: Any) -> None:
    """Create a policy of a kind and a binding of the same name."""
    constraints = {"resourceRules": CREATES}
    body = {"metadata": {"name": name}, "spec": {"matchConstraints": constraints, **spec}}
    await post(api, f"{GROUP}/{kind}admissionpolicies", body)
    more = {"validationActions": ["Deny"]} if kind == "validating" else {}
    body = {"metadata": {"name": name}, "spec": {"policyName": name, **more, **binding}}
    await post(api, f"{GROUP}/{kind}admissionpolicybindings", body)


async def validating(api: aiohttp.ClientSession, *validations: Object, **spec: Any) -> None:
    await bound(api, "validating", "v", {"validations": list(validations), **spec})


async def mutating(api: aiohttp.ClientSession, expression: str, kind: str = "ApplyConfiguration", **spec: Any) -> None:
    member = "jsonPatch" if kind == "JSONPatch" else "applyConfiguration"
    mutation = {"patchType": kind, member: {"expression": expression}}
    await bound(api, "mutating", "m", {"mutations": [mutation], "reinvocationPolicy": "Never", **spec})
