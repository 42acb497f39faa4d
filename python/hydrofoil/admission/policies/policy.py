"""One policy and one binding, compiled."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.admission.matching.conditions import Conditions
from hydrofoil.admission.policies.matching import MatchResources
from hydrofoil.engine import Expressions, Stored

Object = dict[str, Any]
Variables = list[tuple[str, str]]
TEXTS = ("variables", "validations", "auditAnnotations", "mutations")
"""The members of a spec with expressions."""


class Policy:
    """The common part of both kinds of policies; expressions are compiled when they are first used."""

    def __init__(self, stored: Stored) -> None:
        self.name = stored.name
        spec: Object = orjson.loads(stored.json).get("spec") or {}
        self.spec = spec
        self.matching = MatchResources(spec.get("matchConstraints") or {})
        self.kind: Object | None = spec.get("paramKind")
        """The kind of its parameters."""
        self.ignore = spec.get("failurePolicy") == "Ignore"
        self.variables: Variables = [(each["name"], each["expression"]) for each in spec.get("variables") or ()]
        texts = orjson.dumps([self.spec.get(name) for name in TEXTS])
        self.names_request = b"request" in texts
        """Whether an expression may use the request, so that it has to be made."""
        self.names_namespace = b"namespaceObject" in texts
        self._conditions: Conditions | None = None

    def conditions(self) -> Conditions | None:
        """Return the match conditions; None without any."""
        listed = self.spec.get("matchConditions")
        if not listed:
            return None
        if self._conditions is None:
            self._conditions = Conditions(listed, params=self.kind is not None, ignore=self.ignore)
        return self._conditions


class ValidatingPolicy(Policy):
    """A ValidatingAdmissionPolicy."""

    def __init__(self, stored: Stored) -> None:
        super().__init__(stored)
        self.validations: list[Object] = self.spec.get("validations") or []
        self.annotations: list[Object] = self.spec.get("auditAnnotations") or []
        self._compiled: tuple[Expressions, Expressions | None, Expressions | None] | None = None
        computed = sum(1 for each in self.validations if each.get("messageExpression"))
        # Each expression and each variable costs at most a tenth of the budget.
        self.costly = computed > 0 and len(self.validations) + computed + 2 * len(self.variables) >= 10

    def expressions(self) -> tuple[Expressions, Expressions | None, Expressions | None]:
        """Return the compiled validations, messages and annotations; None for those that it lacks."""
        if self._compiled is None:
            texts = [each.get("messageExpression", "") for each in self.validations]
            values = [each.get("valueExpression", "") for each in self.annotations]
            self._compiled = (
                self._compile([each.get("expression", "") for each in self.validations], authorizer=True),
                self._compile(texts, authorizer=False) if any(texts) else None,
                self._compile(values, authorizer=True) if values else None,
            )
        return self._compiled

    def _compile(self, texts: list[str], *, authorizer: bool) -> Expressions:
        return Expressions(texts, self.variables or None, params=self.kind is not None, authorizer=authorizer)


class MutatingPolicy(Policy):
    """A MutatingAdmissionPolicy."""

    def __init__(self, stored: Stored) -> None:
        super().__init__(stored)
        self.again = self.spec.get("reinvocationPolicy") == "IfNeeded"
        self.mutations: list[tuple[str, str]] = [_mutation(each) for each in self.spec.get("mutations") or ()]
        """The type and the expression of each patch."""
        self._compiled: list[Expressions] | None = None

    def expressions(self) -> list[Expressions]:
        """Return the compiled mutations."""
        if self._compiled is None:
            params = self.kind is not None
            self._compiled = [
                Expressions([text], self.variables, params=params, authorizer=True, patches=True)
                for _, text in self.mutations
            ]
        return self._compiled


def _mutation(raw: Object) -> tuple[str, str]:
    kind = raw.get("patchType", "")
    member = "jsonPatch" if kind == "JSONPatch" else "applyConfiguration"
    return kind, (raw.get(member) or {}).get("expression", "").strip()


class Binding:
    """A binding of either kind."""

    def __init__(self, stored: Stored) -> None:
        self.name = stored.name
        spec: Object = orjson.loads(stored.json).get("spec") or {}
        self.policy: str = spec.get("policyName", "")
        self.actions: list[str] = spec.get("validationActions") or []
        self.parameters: Object | None = spec.get("paramRef")
        matched = spec.get("matchResources")
        self.matching = None if matched is None else MatchResources(matched)
