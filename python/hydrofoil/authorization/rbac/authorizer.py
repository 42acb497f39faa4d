"""The authorizer of roles and bindings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hydrofoil import errors
from hydrofoil.authorization.rbac.policy import Bindings, Policy, Roles
from hydrofoil.authorization.rbac.rights import GROUP, Kept, Rights, absent, rules_of
from hydrofoil.authorization.rbac.rules import Rule
from hydrofoil.registry.objects import Objects
from hydrofoil.request import ALWAYS, RequestInfo, Rules, StandingVerdict, User, Verdict
from hydrofoil.watch.change_flag import ChangeFlag
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

MOST_KEPT = 1 << 17
"""The number of decisions and compiled rules that are kept, of all users together: clients can make up both."""
MOST_USERS = 4096
"""The number of users that are known by their identity."""


class RBAC:
    """Allow what roles allow that are bound to a user; it never denies."""

    def __init__(self, objects: Objects, hub: Hub) -> None:
        self._objects = objects
        self._hub = hub
        self.policy = Policy()
        self._followed: list[Followed[Any]] | None = None
        self._generation = -1
        self._kept = Kept()
        self._rights: dict[tuple[str, tuple[str, ...]], Rights] = {}
        self._users: dict[int, tuple[User, Rights]] = {}
        """The rights of users that came a moment ago, by their identity."""
        self._changed: ChangeFlag | None = None

    def followed(self) -> list[Followed[Any]]:
        """Return the states of the four collections; they are followed from the first call on."""
        if self._followed is None:
            made: list[Followed[Any]] = []
            states: tuple[tuple[str, Callable[[Policy], Roles | Bindings]], ...] = (
                ("roles", Roles),
                ("clusterroles", Roles),
                ("rolebindings", Bindings),
                ("clusterrolebindings", Bindings),
            )
            for plural, state in states:
                resource = self._objects.catalog.collected(GROUP, plural)
                if resource is not None:
                    collection = self._objects.collection(resource)
                    made.append(Followed(collection, resource.native, state(self.policy), self._hub))
            self._followed = made
            self._changed = ChangeFlag(made)
        return self._followed

    def present(self) -> Policy:
        """Return roles and bindings at the view of this call."""
        if self._changed is None or self._changed.changed():
            for followed in self.followed():
                _ = followed.state
        return self.policy

    def rights(self, user: User) -> Rights:
        """Return the compiled rights of a user."""
        policy = self.present()
        if policy.generation != self._generation or self._kept.size > MOST_KEPT:
            self._rights.clear()
            self._users.clear()
            self._kept.size = 0
            self._generation = policy.generation
        known = self._users.get(id(user))
        if known is not None and known[0] is user:
            return known[1]
        key = (user.name, user.groups)
        found = self._rights.get(key)
        if found is None:
            self._kept.size += 1
            found = self._rights[key] = Rights(policy, user, self._kept)
        if len(self._users) >= MOST_USERS:
            self._users.clear()
        self._users[id(user)] = user, found
        return found

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Return the decision on a request."""
        return self.rights(user).decide(info)

    def standing(self, user: User, info: RequestInfo) -> StandingVerdict | None:
        """Return the decision on requests for any name."""
        return ALWAYS if self.rights(user).allows_every_name(info) else None

    def rules(self, user: User, namespace: str) -> Rules:
        """Return the rules of a user in a namespace."""
        found, problems = self.rules_for(user, namespace)
        made = Rules(error=errors.aggregate(problems) if problems else "")
        for rule in found:
            shown = rule.shown()
            urls = shown.pop("nonResourceURLs", None)
            if rule.resources:
                made.resources.append(shown)
            if urls:
                made.urls.append({"verbs": list(rule.verbs), "nonResourceURLs": urls})
        return made

    def rules_for(self, user: User, namespace: str) -> tuple[list[Rule], list[str]]:
        """Return the rules of a user, and the errors of bindings to roles that do not exist (`RulesFor`)."""
        found: list[Rule] = []
        problems = []
        for binding, rules in rules_of(self.present(), user, namespace):
            if rules is None:
                problems.append(absent(binding))
            else:
                found += rules
        return found, problems

    def close(self) -> None:
        """Stop following."""
        for followed in self._followed or ():
            followed.end()
