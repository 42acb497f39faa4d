"""The MutatingAdmissionPolicy and ValidatingAdmissionPolicy admission plug-ins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.lazy_plugin import LazyPlugin
from hydrofoil.admission.matching.rules import GROUP, exempt
from hydrofoil.admission.plugin_dependencies import PluginDependencies
from hydrofoil.admission.policies.matching import EXCLUDED
from hydrofoil.admission.policies.policy import Binding, MutatingPolicy, Policy, ValidatingPolicy
from hydrofoil.admission.policies.source import Named, Source
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Stored
from hydrofoil.registry.write import Operation
from hydrofoil.watch.follow import Followed

if TYPE_CHECKING:
    from hydrofoil.admission.policies.round import Parts

P = TypeVar("P", bound=Policy)


class Policies(LazyPlugin, Generic[P]):
    """The policies of one kind; without any binding, a write costs one look at their state."""

    modules = tuple(
        f"hydrofoil.admission.policies.{name}" for name in ("metrics", "mutating", "params", "round", "validating")
    )

    def __init__(self, deps: PluginDependencies, kind: str, make: Callable[[Stored], P]) -> None:
        """`kind`: the plural of the policies is `{kind}admissionpolicies`."""
        self._deps = deps
        self._made: Parts | None = None
        self._source: Source[P] | None = None
        registry, hub = deps.registry, deps.hub
        policies = registry.catalog.find(GROUP, "v1", f"{kind}admissionpolicies")
        bindings = registry.catalog.find(GROUP, "v1", f"{kind}admissionpolicybindings")
        if policies is not None and bindings is not None:
            by_name = Followed(registry.collection(policies), policies.native, Named(make), hub)
            bound = Followed(registry.collection(bindings), bindings.native, Named(Binding), hub)
            self._source = Source(by_name, bound)
            self.followed = by_name, bound

    def idle(self) -> bool:
        return self._source is None or not self._source.bound()

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return self._source is not None and not exempt(resource) and resource.storage not in EXCLUDED

    def make(self) -> None:
        """Make the parts that evaluations use, when there is a policy."""
        if self._made is None:
            from hydrofoil.admission.matching.target import Equivalents
            from hydrofoil.admission.policies.params import Params
            from hydrofoil.admission.policies.round import Parts

            registry = self._deps.registry
            equivalents = Equivalents(registry.catalog)
            self._made = Parts(registry, Params(registry), equivalents, self._deps.metrics.policies())


class MutatingAdmissionPolicy(Policies[MutatingPolicy]):
    """Mutating policies."""

    def __init__(self, deps: PluginDependencies) -> None:
        super().__init__(deps, "mutating", MutatingPolicy)

    def mutate(self, a: Attributes) -> Awaitable[None] | None:
        """Apply the policies. Raise ApiError."""
        assert self._source is not None, "it handles nothing without"
        bound = self._source.bound()
        if not bound:
            return None
        if self._made is None:
            return self.first(self.mutate, a)
        from hydrofoil.admission.policies.mutating import Mutating

        return Mutating(self._made, a).run(bound)


class ValidatingAdmissionPolicy(Policies[ValidatingPolicy]):
    """Validating policies."""

    def __init__(self, deps: PluginDependencies) -> None:
        super().__init__(deps, "validating", ValidatingPolicy)

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Evaluate the policies. Raise ApiError."""
        assert self._source is not None, "it handles nothing without"
        bound = self._source.bound()
        if not bound:
            return None
        if self._made is None:
            return self.first(self.validate, a)
        from hydrofoil.admission.policies.validating import Validating

        return Validating(self._made, a).run(bound)
