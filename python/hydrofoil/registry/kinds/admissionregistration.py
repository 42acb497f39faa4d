"""The group admissionregistration.k8s.io: a policy's author may read its parameters (`*/authz.go`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import Cause
from hydrofoil.registry.objects import Objects
from hydrofoil.registry.rights import decision, exempt, go_text
from hydrofoil.registry.strategy import Strategy
from hydrofoil.registry.write import Write
from hydrofoil.request import attributes

GROUP = "admissionregistration.k8s.io"
Kind = dict[str, str]
Target = tuple[str, str, str]
"""Group, version and plural; `*` for unknown ones."""


def target(objects: Objects, kind: Kind | None) -> tuple[Target, str]:
    """Return the resource of a kind of parameters, and the step at which it could not be found."""
    if kind is None:
        return ("*", "*", "*"), ""
    api_version = kind.get("apiVersion", "")
    if api_version.count("/") > 1:
        return ("*", "*", "*"), "parse"
    group, _, version = api_version.rpartition("/")
    for plural, resource in objects.catalog.groups.get(group, {}).get(version, {}).items():
        if resource.kind == kind.get("kind"):
            return (group, version, plural), ""
    return (group, version, "*"), "resolve"


class PolicyStrategy(Strategy):
    """Require that the author of a policy may get all objects of its kind of parameters."""

    def creates_through_status(self, resource: Resource) -> bool:
        return resource.kind == "ValidatingAdmissionPolicy"

    async def further_causes(self, write: Write, draft: Draft, old: Stored | None) -> list[Cause]:
        kind: Kind | None = orjson.loads(draft.get(["spec", "paramKind"]) or b"null")
        if kind is None or write.subresource or exempt(write):
            return []
        if old is not None and kind == orjson.loads(old.thaw().get(["spec", "paramKind"]) or b"null"):
            return []
        (group, version, plural), _ = target(self.objects, kind)
        asked = attributes("get", group, plural, version=version, namespace="*", name="*")
        verdict = await decision(write, asked)
        if verdict.allowed:
            return []
        why = verdict.error or (
            f'user {go_text(write.user)} must have "get" permission on all objects of the referenced paramKind'
            f" (kind={kind.get('kind', '')}, apiVersion={kind.get('apiVersion', '')})"
        )
        return [("FieldValueForbidden", f"Forbidden: {why}", "spec.paramKind")]


class PolicyBindingStrategy(Strategy):
    """Require that the author of a binding may read the parameters that it selects."""

    def __init__(self, objects: Objects, policies: str) -> None:
        """`policies` is the plural of the policies that it binds."""
        super().__init__(objects)
        self._policies = policies

    async def further_causes(self, write: Write, draft: Draft, old: Stored | None) -> list[Cause]:
        reference: dict[str, Any] | None = orjson.loads(draft.get(["spec", "paramRef"]) or b"null")
        if reference is None or exempt(write):
            return []
        policy: str = orjson.loads(draft.get(["spec", "policyName"]) or b'""')
        stored = self._policy(policy)
        kind: Kind | None = orjson.loads(stored.json)["spec"].get("paramKind") if stored else None
        (group, version, plural), lost = target(self.objects, kind)
        name, namespace = reference.get("name", ""), reference.get("namespace", "")
        verb = "get" if name else "list"
        verdict = await decision(
            write, attributes(verb, group, plural, version=version, namespace=namespace, name=name)
        )
        if verdict.allowed:
            return []
        who = f"user {go_text(write.user)} does not have"
        unbounded = f'to determine minimum required permissions and {who} "{verb}" permission for all groups,'
        unbounded += " versions and resources"
        if verdict.error:
            why = f"failed to authorize request: {verdict.error}"
        elif stored is None:
            why = f"unable to get policy {policy} {unbounded}"
        elif lost and kind is not None:
            shown_kind = f"&ParamKind{{APIVersion:{kind.get('apiVersion', '')},Kind:{kind.get('kind', '')},}}"
            why = f"unable to {lost} paramKind {shown_kind} {unbounded}"
        elif self._policies.startswith("mutating"):
            # Upstream's arguments are the wrong way round here.
            why = f'user {verb} does not have "{go_text(write.user)}" permission on the object referenced by paramRef'
        else:
            why = f'{who} "{verb}" permission on the object referenced by paramRef'
        return [("FieldValueForbidden", f"Forbidden: {why}", "spec.paramRef")]

    def _policy(self, name: str) -> Stored | None:
        resource = self.objects.catalog.collected(GROUP, self._policies)
        return self.objects.collection(resource).get(resource.native, "", name) if resource is not None else None
