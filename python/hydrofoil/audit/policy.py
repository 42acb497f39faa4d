"""The audit policy: which requests are recorded, and how much of them (apiserver `pkg/audit/policy/checker.go`)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hydrofoil.audit.level import UNRECORDED, Chosen
from hydrofoil.request import RequestInfo, User


class GroupResources(Struct, frozen=True):
    """Resources of one API group."""

    group: str
    """`*`: every group."""
    resources: frozenset[str]
    """Empty: all of them. `pods`, `pods/log`, `pods/*`, `*/status` or `*`; a resource is not its subresources."""
    names: frozenset[str]
    """Empty: objects of every name."""

    def matches(self, info: RequestInfo) -> bool:
        """Report whether a resource request is for one of these."""
        if self.group not in (info.group, "*"):
            return False
        asked = self.resources
        if not asked:
            return True
        if self.names and info.subject not in self.names:
            return False
        resource, subresource = info.resource, info.subresource
        if "*" in asked or f"{resource}/*" in asked:
            return True
        if not subresource:
            return resource in asked
        return f"{resource}/{subresource}" in asked or f"*/{subresource}" in asked


class Rule(Struct, frozen=True):
    """One rule; an empty member does not restrict it."""

    chosen: Chosen
    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    """The empty one stands for requests outside namespaces."""
    resources: tuple[GroupResources, ...] = ()
    urls: tuple[str, ...] = ()
    """Paths of other requests, or with a final `*` what they begin with."""

    def matches(self, user: User | None, info: RequestInfo) -> bool:
        """Report whether the rule applies to a request; its user is None where none could be found."""
        if self.users and (user is None or user.name not in self.users):
            return False
        if self.groups and (user is None or self.groups.isdisjoint(user.groups)):
            return False
        if self.verbs and info.verb not in self.verbs:
            return False
        if self.namespaces or self.resources:
            if not info.resourceful or (self.namespaces and info.scope not in self.namespaces):
                return False
            return not self.resources or any(r.matches(info) for r in self.resources)
        if self.urls:
            return not info.resourceful and any(_path_matches(info.path, url) for url in self.urls)
        return True


def _path_matches(path: str, url: str) -> bool:
    return url in ("*", path) or (url.endswith("*") and path.startswith(url.rstrip("*")))


class Policy:
    """The rules in their order: the first that applies decides."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self.every: Chosen | None = None
        """How all requests are recorded, if one rule is for everything."""
        if rules and rules[0] == Rule(rules[0].chosen):
            # The usual policy needs no look at requests.
            self.every = rules[0].chosen

    def choose(self, user: User | None, info: RequestInfo) -> Chosen:
        """Return how a request is recorded; one without a rule is not."""
        if self.every is not None:
            return self.every
        for rule in self.rules:
            if rule.matches(user, info):
                return rule.chosen
        return UNRECORDED
