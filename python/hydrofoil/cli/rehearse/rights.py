"""Questions about rights, each asked once: SubjectAccessReviews of a copy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from hydrofoil.authorization import reviews
from hydrofoil.cli.rehearse.copy import Copy
from hydrofoil.controls.documents import Document
from hydrofoil.request import RequestInfo, User
from hydrofoil.server.dumped_log import Contents

Object = dict[str, Any]
PATH = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
GROUP = "rbac.authorization.k8s.io"
BINDINGS = ("RoleBinding", "ClusterRoleBinding")
MODES = ("Node", "RBAC")
"""The authorizers of a cluster."""
OPEN = ("AlwaysAllow",)


class Rights:
    """The rights that users have in a copy."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy
        self._known: dict[bytes, tuple[bool, str]] = {}

    async def ask(self, user: User, info: RequestInfo) -> tuple[bool, str]:
        """Return whether a request is allowed, and why it is or is not."""
        spec = reviews.spec(user, info)
        key = orjson.dumps(spec)
        found = self._known.get(key)
        if found is None:
            status = (await self._copy.ask("POST", PATH, {"spec": spec})).content().get("status") or {}
            found = self._known[key] = bool(status.get("allowed")), str(status.get("reason") or "")
        return found


def modes_of(contents: Contents, change: Iterable[Document] = ()) -> tuple[str, ...]:
    """Return the authorizers of a copy: everything is allowed where nobody was given rights."""
    if any(is_role(document.content) for document in change):
        return MODES
    for one in contents.objects.objects():
        if one.group == GROUP and one.kind in BINDINGS:
            labels = one.content()["metadata"].get("labels") or {}
            if labels.get("kubernetes.io/bootstrapping") != "rbac-defaults":
                return MODES
    return OPEN


def is_role(content: Object) -> bool:
    """Report whether an object is a role or a binding."""
    return str(content.get("apiVersion")).startswith(f"{GROUP}/")


def read_user(content: Object) -> User:
    """Return the user of a record: whom it acted as, or who sent it."""
    given = content.get("impersonatedUser") or content.get("user") or {}
    extra = {str(key): tuple(map(str, values or ())) for key, values in (given.get("extra") or {}).items()}
    groups = tuple(map(str, given.get("groups") or ()))
    return User(str(given.get("username") or ""), str(given.get("uid") or ""), groups, extra)
