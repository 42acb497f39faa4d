"""Flow schemas: to which priority level a request belongs (apiserver `pkg/util/flowcontrol/rule.go`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from hydrofoil.request import RequestInfo, User

ACCOUNT = "system:serviceaccount:"


class Subjects(Struct, frozen=True):
    """The users of a rule."""

    everyone: bool = False
    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    """The beginnings of names: the service accounts of namespaces."""

    def match(self, user: User) -> bool:
        """Report whether a user is one of them."""
        if self.everyone or user.name in self.users or not self.groups.isdisjoint(user.groups):
            return True
        return bool(self.prefixes) and user.name.startswith(self.prefixes)


class ResourceRule(Struct, frozen=True):
    """Requests for resources; `*` alone stands for all."""

    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    namespaces: frozenset[str]
    cluster: bool

    def match(self, info: RequestInfo) -> bool:
        """Report whether a request is one of them."""
        resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        if not (has(self.verbs, info.verb) and has(self.resources, resource) and has(self.groups, info.group)):
            return False
        scope = info.scope
        return has(self.namespaces, scope) if scope else self.cluster


class UrlRule(Struct, frozen=True):
    """Requests for other paths."""

    verbs: frozenset[str]
    urls: tuple[str, ...]

    def match(self, info: RequestInfo) -> bool:
        """Report whether a request is one of them."""
        return has(self.verbs, info.verb) and any(path_matches(info.path, url) for url in self.urls)


def has(words: frozenset[str], word: str) -> bool:
    """Report whether a word is listed, or all are."""
    return word in words or (len(words) == 1 and "*" in words)


def path_matches(path: str, url: str) -> bool:
    """Report whether a path is a URL of a rule, or below it."""
    if url in ("*", path):
        return True
    prefix = url.removesuffix("*")
    return path.startswith(prefix if prefix.endswith("/") else f"{prefix}/")


class Rule(Struct, frozen=True):
    """Users, and their requests."""

    subjects: Subjects
    resources: tuple[ResourceRule, ...]
    urls: tuple[UrlRule, ...]

    def match(self, user: User, info: RequestInfo) -> bool:
        """Report whether a request of a user is covered."""
        if not self.subjects.match(user):
            return False
        rules: Sequence[ResourceRule | UrlRule] = self.resources if info.resourceful else self.urls
        return any(rule.match(info) for rule in rules)


class Schema(Struct, frozen=True):
    """One flow schema."""

    name: str
    uid: str
    level: str
    precedence: int
    by: str
    """ByUser, ByNamespace, or empty: the requests of the schema are one flow."""
    rules: tuple[Rule, ...] = field(default_factory=tuple)

    def covers(self, user: User) -> bool:
        """Report whether each request of a user belongs to this schema, and to one flow."""
        return not self.by and any(
            rule.subjects.match(user) and EVERY in rule.resources and EVERY_URL in rule.urls for rule in self.rules
        )

    def match(self, user: User, info: RequestInfo) -> bool:
        """Report whether a request belongs to this schema."""
        return any(rule.match(user, info) for rule in self.rules)

    def distinguisher(self, user: User, info: RequestInfo) -> str:
        """Return the name of the flow within the schema."""
        if self.by == "ByUser":
            return user.name
        return info.scope if self.by == "ByNamespace" else ""


def subjects_of(found: Sequence[dict[str, Any]]) -> Subjects:
    """Return the subjects of a rule."""
    users, groups, prefixes, everyone = set(), set(), [], False
    for subject in found:
        kind = subject.get("kind")
        if kind == "User":
            users.add((subject.get("user") or {}).get("name", ""))
        elif kind == "Group":
            groups.add((subject.get("group") or {}).get("name", ""))
        elif kind == "ServiceAccount" and (account := subject.get("serviceAccount")):
            namespace, name = account.get("namespace", ""), account.get("name", "")
            if name == "*":
                prefixes.append(f"{ACCOUNT}{namespace}:")
            else:
                users.add(f"{ACCOUNT}{namespace}:{name}")
    everyone = "*" in users or "*" in groups
    return Subjects(everyone, frozenset(users), frozenset(groups), tuple(prefixes))


def schema_of(raw: dict[str, Any]) -> Schema:
    """Return the schema of an object."""
    spec = raw["spec"]

    def texts(rule: dict[str, Any], name: str) -> frozenset[str]:
        return frozenset(rule.get(name) or ())

    rules = tuple(
        Rule(
            subjects_of(rule.get("subjects") or ()),
            tuple(
                ResourceRule(
                    texts(r, "verbs"),
                    texts(r, "apiGroups"),
                    texts(r, "resources"),
                    texts(r, "namespaces"),
                    bool(r.get("clusterScope")),
                )
                for r in rule.get("resourceRules") or ()
            ),
            tuple(
                UrlRule(texts(r, "verbs"), tuple(r.get("nonResourceURLs") or ()))
                for r in rule.get("nonResourceRules") or ()
            ),
        )
        for rule in spec.get("rules") or ()
    )
    return Schema(
        raw["metadata"]["name"],
        raw["metadata"].get("uid", ""),
        spec["priorityLevelConfiguration"]["name"],
        spec.get("matchingPrecedence", 1000),
        (spec.get("distinguisherMethod") or {}).get("type", ""),
        rules,
    )


EVERY = ResourceRule(*(frozenset("*"),) * 4, cluster=True)
EVERY_URL = UrlRule(frozenset("*"), ("*",))


def mandatory() -> tuple[Schema, Schema]:
    """Return the schemas that take effect even where their objects are missing: exempt and catch-all."""
    masters = Subjects(groups=frozenset(("system:masters",)))
    every = Subjects(everyone=True)
    return (
        Schema("exempt", "", "exempt", 1, "", (Rule(masters, (EVERY,), (EVERY_URL,)),)),
        Schema("catch-all", "", "catch-all", 10000, "ByUser", (Rule(every, (EVERY,), (EVERY_URL,)),)),
    )
