"""The common part of both kinds of policies: the ones that cover a request, with their parameters."""

from __future__ import annotations

from msgspec import Struct

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.matching.questions import Found, Questions
from hydrofoil.admission.matching.target import Equivalents, Target
from hydrofoil.admission.matching.versioned_request import NO_REQUEST, VersionedRequest
from hydrofoil.admission.policies.metrics import Metrics
from hydrofoil.admission.policies.params import Param, Params
from hydrofoil.admission.policies.policy import Binding, Policy
from hydrofoil.engine import Document, Expressions
from hydrofoil.registry.store import Registry

BUDGET = 10_000_000
"""The most that the expressions of one policy may cost for one parameter (`RuntimeCELCostBudget`)."""


class Parts(Struct):
    """The parts of a server that evaluations use."""

    registry: Registry
    params: Params
    equivalents: Equivalents
    metrics: Metrics


class Round:
    """One request."""

    def __init__(self, parts: Parts, a: Attributes) -> None:
        self.parts = parts
        self.a = a
        self.seen = VersionedRequest(a, parts.registry)
        self.questions = Questions(a)
        self._namespace: Document | None = None
        self._named = False

    def covered(self, policy: Policy) -> Target | None:
        """Return the form in which a policy covers the request. Raise ApiError 404 for a missing namespace."""
        return policy.matching.match(self.seen, self.parts.equivalents)

    def bound(self, binding: Binding) -> bool:
        """Report whether a binding covers the request. Raise ApiError 404 for a missing namespace."""
        return binding.matching is None or binding.matching.match(self.seen, self.parts.equivalents) is not None

    def namespace(self) -> Document | None:
        """Return the namespace of the request for expressions; None for cluster-scoped objects. Raise ApiError 404."""
        if not self._named:
            self._named = True
            if self.seen.namespace and not self.seen.of_namespace:
                stored = self.seen.namespace_object()
                if stored is None:
                    raise errors.not_found("", "namespaces", self.seen.namespace)
                self._namespace = Document(stored.json)
        return self._namespace

    async def evaluate(
        self, policy: Policy, expressions: Expressions, at: Target, param: Param | None, budget: int
    ) -> tuple[Found, int]:
        """Evaluate expressions of a policy; return their results and the rest of the budget."""
        new, old = await self.seen.documents(at.kind)
        document = None if param is None else param.document
        request = self.seen.reviewed(at) if policy.names_request else NO_REQUEST
        namespace = self.namespace() if policy.names_namespace else None
        return await self.questions.evaluate(expressions, request, new, old, namespace, document, budget)
