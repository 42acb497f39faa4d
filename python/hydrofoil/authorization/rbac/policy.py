"""All roles and bindings, indexed by subject: a state that follows their events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.authorization.rbac.rules import Rule, read
from hydrofoil.engine import Stored
from hydrofoil.go_text import quote
from hydrofoil.request import User

Subject = tuple[str, str]
"""`User` or `Group`, and its name; a service account is its user."""
ACCOUNT = "system:serviceaccount:"


class Role:
    """The rules of one role, read when first asked for."""

    __slots__ = ("_rules", "_stored")

    def __init__(self, stored: Stored) -> None:
        self._stored: Stored | None = stored
        self._rules: tuple[Rule, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Return the rules."""
        if self._stored is not None:
            self._rules, self._stored = read(orjson.loads(self._stored.json).get("rules")), None
        return self._rules


class Binding(Struct, frozen=True):
    """One binding of a role."""

    namespace: str
    """Empty for a ClusterRoleBinding."""
    name: str
    kind: str
    """The kind of the role."""
    role: str
    subjects: tuple[tuple[Subject, str], ...]
    """The subjects in their order, each with its name in reasons."""

    def source(self, subject: str) -> str:
        """Return the reason of a right that a subject has by this binding."""
        if self.namespace:
            head = f"RoleBinding {quote(f'{self.name}/{self.namespace}')}"
        else:
            head = f"ClusterRoleBinding {quote(self.name)}"
        return f"RBAC: allowed by {head} of {self.kind} {quote(self.role)} to {subject}"


def binding_of(stored: Stored) -> Binding:
    """Read a binding."""
    value = orjson.loads(stored.json)
    reference, namespace = value["roleRef"], stored.namespace
    subjects = tuple(filter(None, (subject_of(given, namespace) for given in value.get("subjects") or ())))
    return Binding(namespace, stored.name, reference.get("kind", ""), reference.get("name", ""), subjects)


def subject_of(given: dict[str, Any], namespace: str) -> tuple[Subject, str] | None:
    """Read a subject in a binding of a namespace (`appliesToUser`); None for one that fits no user."""
    kind, name = given.get("kind", ""), given.get("name", "")
    if kind in ("User", "Group"):
        return (kind, name), f"{kind} {quote(name)}"
    place = given.get("namespace") or namespace
    if kind != "ServiceAccount" or not place:
        return None
    return ("User", f"{ACCOUNT}{place}:{name}"), f"{kind} {quote(f'{name}/{place}')}"


class Policy:
    """Roles and bindings; `generation` counts their changes."""

    def __init__(self) -> None:
        self.generation = 0
        self.roles: dict[tuple[str, str], Role] = {}
        """By namespace and name; the namespace of a ClusterRole is empty."""
        self._bound: dict[Subject, dict[str, dict[str, Binding]]] = {}
        """By subject, namespace and name."""

    def role(self, binding: Binding) -> Role | None:
        """Return the role of a binding."""
        if binding.kind == "ClusterRole":
            return self.roles.get(("", binding.role))
        return self.roles.get((binding.namespace, binding.role)) if binding.namespace else None

    def bound(self, user: User, namespace: str) -> Iterator[tuple[Binding, str]]:
        """Yield the bindings of a user in a namespace, by name, each with the name of the first subject that fits."""
        found: dict[str, Binding] = {}
        for subject in self.subjects(user):
            if (places := self._bound.get(subject)) is not None and (within := places.get(namespace)) is not None:
                found.update(within)
        wanted = {*self.subjects(user)}
        for name in sorted(found):
            binding = found[name]
            yield binding, next(shown for subject, shown in binding.subjects if subject in wanted)

    @staticmethod
    def subjects(user: User) -> Iterator[Subject]:
        """Yield the subjects that a user is."""
        yield "User", user.name
        for group in user.groups:
            yield "Group", group

    def add(self, binding: Binding) -> None:
        """Add a binding to the index."""
        for subject, _ in binding.subjects:
            self._bound.setdefault(subject, {}).setdefault(binding.namespace, {})[binding.name] = binding

    def remove(self, binding: Binding) -> None:
        """Remove a binding from the index."""
        for subject, _ in binding.subjects:
            places = self._bound.get(subject, {})
            within = places.get(binding.namespace, {})
            within.pop(binding.name, None)
            if not within:
                places.pop(binding.namespace, None)
            if not places:
                self._bound.pop(subject, None)


class Roles:
    """The state of one collection of roles."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._own: set[tuple[str, str]] = set()

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace all roles of the collection."""
        for key in self._own:
            self._policy.roles.pop(key, None)
        self._own.clear()
        self._policy.generation += 1
        for stored in objects:
            self.apply(None, stored)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        self._policy.generation += 1
        if new is not None:
            key = (new.namespace, new.name)
            self._own.add(key)
            self._policy.roles[key] = Role(new)
        elif old is not None:
            key = (old.namespace, old.name)
            self._own.discard(key)
            self._policy.roles.pop(key, None)

    async def settle(self) -> None:
        """Return at once: nothing is pending."""


class Bindings:
    """The state of one collection of bindings."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._own: dict[tuple[str, str], Binding] = {}

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace all bindings of the collection."""
        for binding in self._own.values():
            self._policy.remove(binding)
        self._own.clear()
        self._policy.generation += 1
        for stored in objects:
            self.apply(None, stored)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        self._policy.generation += 1
        changed = new if new is not None else old
        if changed is None:
            return
        key = (changed.namespace, changed.name)
        if (before := self._own.pop(key, None)) is not None:
            self._policy.remove(before)
        if new is not None:
            binding = self._own[key] = binding_of(new)
            self._policy.add(binding)

    async def settle(self) -> None:
        """Return at once: nothing is pending."""
