"""What roles grant to the subjects of bindings, right by right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from msgspec import Struct

from hydrofoil.cli.rehearse.copy import Copy
from hydrofoil.cli.rehearse.rights import BINDINGS, is_role
from hydrofoil.controls.apply import path_of
from hydrofoil.controls.documents import Document
from hydrofoil.request import RequestInfo, User, attributes

Object = dict[str, Any]
API_VERSION = "rbac.authorization.k8s.io/v1"
Name = tuple[str, str, str]
"""Kind, namespace and name."""


class Grant(Struct):
    """A right of a subject."""

    user: User
    subject: str
    request: RequestInfo

    def entry(self) -> Object:
        """Return it as in a report."""
        one = self.request
        resource = f"{one.resource}/{one.subresource}" if one.subresource else one.resource
        what = f"{resource}.{one.group}" if one.group else resource
        right = f"{one.verb} {what or one.path}" + (f" {one.name}" if one.name else "")
        names = {"group": one.group, "resource": resource, "name": one.name} if one.resource else {"path": one.path}
        return {"subject": self.subject, "namespace": one.namespace, "verb": one.verb, **names, "reason": right}


async def find_grants(before: Copy, after: Copy, change: Iterable[Document]) -> list[Grant]:
    """Return what the roles and bindings of a change grant, before and after it, each right once."""
    changed = {name_of(document.content) for document in change if is_role(document.content)}
    found: dict[tuple[Any, ...], Grant] = {}
    for copy in (before, after):
        roles = await read(copy, ("Role", "ClusterRole"))
        bindings = await read(copy, BINDINGS)
        # Its rules are those of other roles.
        changed |= {name for name, role in roles.items() if role.get("aggregationRule")}
        for name, binding in bindings.items():
            reference = binding["roleRef"]
            namespace = name[1]
            role = reference["kind"], namespace if reference["kind"] == "Role" else "", reference["name"]
            if name not in changed and role not in changed:
                continue
            rules = (roles.get(role) or {}).get("rules") or ()
            for subject, request in product(binding.get("subjects") or (), requests(rules, namespace)):
                user = user_of(subject, namespace)
                shown = f"{subject['kind']} {user.name if subject['kind'] != 'Group' else subject['name']}"
                key = (shown, request.verb, request.path, request.group, request.resource, request.subresource)
                found.setdefault((*key, request.namespace, request.name), Grant(user, shown, request))
    return list(found.values())


def name_of(content: Object) -> Name:
    """Return kind, namespace and name of a role or binding."""
    metadata = content.get("metadata") or {}
    is_namespaced = content["kind"] in ("Role", "RoleBinding")
    return content["kind"], (metadata.get("namespace") or "default") if is_namespaced else "", metadata.get("name", "")


async def read(copy: Copy, kinds: Iterable[str]) -> dict[Name, Object]:
    """Return the objects of kinds by their names."""
    found = {}
    for kind in kinds:
        resource = copy.find(API_VERSION, kind)
        if resource is not None:
            async for page in copy.pages(path_of(resource, "")):
                found.update({name_of({"kind": kind, **item}): item for item in page["items"]})
    return found


def user_of(subject: Object, namespace: str) -> User:
    """Return a user that a subject means: of a group, one who is in it alone."""
    kind, name = subject["kind"], subject["name"]
    if kind == "Group":
        return User("", groups=(name,))
    if kind == "ServiceAccount":
        space = subject.get("namespace") or namespace
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{space}", "system:authenticated")
        return User(f"system:serviceaccount:{space}:{name}", groups=groups)
    return User(name, groups=("system:authenticated",))


def requests(rules: Iterable[Object], namespace: str) -> Iterator[RequestInfo]:
    """Yield the requests that rules allow, one for each verb, resource and name."""
    for rule in rules:
        verbs = rule.get("verbs") or ()
        lists = rule.get("apiGroups") or (), rule.get("resources") or (), rule.get("resourceNames") or ("",)
        for verb, group, whole, name in product(verbs, *lists):
            resource, _, subresource = whole.partition("/")
            yield attributes(verb, group, resource, subresource=subresource, namespace=namespace, name=name)
        for verb, path in product(verbs, rule.get("nonResourceURLs") or ()):
            yield RequestInfo(path, "", verb, resourceful=False)
