"""The compiled rights of one user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from hydrofoil import errors
from hydrofoil.authorization.rbac.policy import Binding, Policy
from hydrofoil.authorization.rbac.rules import Rule
from hydrofoil.go_text import quote
from hydrofoil.request import RequestInfo, User, Verdict

GROUP = "rbac.authorization.k8s.io"
MOST_KINDS = 4096
"""The number of kinds of requests whose decision is kept for one user: clients choose the names in paths."""
Entry = tuple[int, frozenset[str] | None, Verdict]
"""The place of a rule among all, the names that it is limited to, and its decision."""
NOTHING = Verdict()


class Table:
    """Rules of a user at one scope, by verb, then by group and resource."""

    __slots__ = ("missing", "resources", "rules", "urls")

    def __init__(self, policy: Policy, bound: Iterable[tuple[Binding, str]]) -> None:
        self.resources: dict[str, dict[tuple[str, str], list[Entry]]] = {}
        self.urls: list[tuple[frozenset[str], str, bool, Verdict]] = []
        """Verbs, the URL or what it begins with, whether that is all of it, and the decision."""
        self.missing: list[str] = []
        """Errors of bindings to roles that do not exist."""
        order = 0
        for binding, subject in bound:
            role = policy.role(binding)
            if role is None:
                self.missing.append(absent(binding))
                continue
            verdict = Verdict(allowed=True, reason=binding.source(subject))
            for rule in role.rules:
                order += 1
                self._add(order, rule, verdict)
        self.rules = order

    def _add(self, order: int, rule: Rule, verdict: Verdict) -> None:
        entry: Entry = (order, frozenset(rule.names) if rule.names else None, verdict)
        keys = [(group, resource) for group in rule.groups for resource in rule.resources]
        for verb in rule.verbs:
            verbs = self.resources.setdefault(verb, {})
            for key in keys:
                verbs.setdefault(key, []).append(entry)
        for url in rule.urls:
            prefix = url.endswith("*")
            self.urls.append((frozenset(rule.verbs), url.rstrip("*") if prefix else url, not prefix, verdict))

    def entries(self, verb: str, group: str, resource: str, subresource: str) -> list[Entry]:
        """Return the entries that may allow a request, in the order of their rules."""
        combined = f"{resource}/{subresource}" if subresource else resource
        names = (combined, "*", f"*/{subresource}") if subresource else (combined, "*")
        found: list[Entry] = []
        for verbs in (self.resources.get(verb), self.resources.get("*")):
            if verbs is not None:
                for name in names:
                    found += verbs.get((group, name), ())
                    found += verbs.get(("*", name), ())
        if len(found) > 1:
            found.sort(key=_place)
        return found

    def url(self, verb: str, path: str) -> Verdict | None:
        """Return the decision of the first rule that allows a path."""
        for verbs, url, whole, verdict in self.urls:
            if (path == url if whole else path.startswith(url)) and (verb in verbs or "*" in verbs):
                return verdict
        return None


def _place(entry: Entry) -> int:
    return entry[0]


def absent(binding: Binding) -> str:
    """Return the error of a binding whose role does not exist."""
    kind = binding.kind.lower() if binding.kind in ("Role", "ClusterRole") else ""
    if not kind or (kind == "role" and not binding.namespace):
        return f"unsupported role reference kind: {quote(binding.kind)}"
    return f"{kind}.{GROUP} {quote(binding.role)} not found"


class Decision(Struct):
    """The decision on requests of one kind: on any name, on some names, and on all others."""

    anything: Verdict | None
    named: list[tuple[frozenset[str], Verdict]]
    refused: Verdict

    def on(self, name: str) -> Verdict:
        """Return the decision on a name."""
        for names, verdict in self.named:
            if name in names:
                return verdict
        return self.anything or self.refused


class Kept(Struct):
    """The number of decisions and rules that are kept for all users."""

    size: int = 0


class Rights(Struct):
    """The rights of one user, as long as no role or binding changes."""

    policy: Policy
    user: User
    kept: Kept = field(default_factory=Kept)
    _tables: dict[str, Table] = field(default_factory=dict)
    _decisions: dict[tuple[str, str, str, str, str], Decision] = field(default_factory=dict)

    def decide(self, info: RequestInfo) -> Verdict:
        """Return the decision on a request."""
        if not info.resourceful:
            return self._url(info)
        found = self._kept_decision(info)
        if not found.named:
            return found.anything or found.refused
        return found.on(info.name or info.subject)

    def allows_every_name(self, info: RequestInfo) -> bool:
        """Report whether a request for a resource is allowed whichever name it has."""
        return info.resourceful and self._kept_decision(info).anything is not None

    def _kept_decision(self, info: RequestInfo) -> Decision:
        key = (info.verb, info.group, info.resource, info.subresource, info.namespace or info.scope)
        found = self._decisions.get(key)
        if found is None:
            if len(self._decisions) >= MOST_KINDS:
                self._decisions.clear()
            self.kept.size += 1
            found = self._decisions[key] = self._decision(*key)
        return found

    def _decision(self, verb: str, group: str, resource: str, subresource: str, namespace: str) -> Decision:
        tables = [self.table("")]
        if namespace:
            tables.append(self.table(namespace))
        named: list[tuple[frozenset[str], Verdict]] = []
        for table in tables:
            for _, names, verdict in table.entries(verb, group, resource, subresource):
                if names is None:
                    return Decision(verdict, named, NOTHING)
                named.append((names, verdict))
        return Decision(None, named, refuse([error for table in tables for error in table.missing]))

    def _url(self, info: RequestInfo) -> Verdict:
        table = self.table("")
        return table.url(info.verb, info.path) or refuse(table.missing)

    def table(self, namespace: str) -> Table:
        """Return the rules that are bound in a namespace, or with an empty one to the cluster."""
        found = self._tables.get(namespace)
        if found is None:
            if len(self._tables) >= MOST_KINDS:
                self._tables.clear()
            found = self._tables[namespace] = Table(self.policy, self.policy.bound(self.user, namespace))
            self.kept.size += found.rules + 1
        return found


def refuse(missing: list[str]) -> Verdict:
    """Return the decision where no rule allows; its reason names the roles that do not exist."""
    return Verdict(reason=f"RBAC: {errors.aggregate(missing)}") if missing else NOTHING


def rules_of(policy: Policy, user: User, namespace: str) -> Iterator[tuple[Binding, tuple[Rule, ...] | None]]:
    """Yield the rules of a user in a namespace and the cluster by binding; None if its role does not exist."""
    for place in ("", namespace) if namespace else ("",):
        for binding, _ in policy.bound(user, place):
            role = policy.role(binding)
            yield binding, None if role is None else role.rules
