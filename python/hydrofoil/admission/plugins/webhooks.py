"""The MutatingAdmissionWebhook and ValidatingAdmissionWebhook admission plug-ins."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.lazy_plugin import LazyPlugin
from hydrofoil.admission.matching.rules import GROUP, exempt
from hydrofoil.admission.plugin_dependencies import PluginDependencies
from hydrofoil.apis.catalog import Resource
from hydrofoil.outbound import kubeconfig
from hydrofoil.registry.write import Operation
from hydrofoil.watch.follow import Followed

if TYPE_CHECKING:
    from hydrofoil.admission.webhooks.dispatch import Parts
    from hydrofoil.admission.webhooks.hook import Hook
    from hydrofoil.admission.webhooks.source import Source


class Webhooks(LazyPlugin):
    """The webhooks of one kind of configurations; without any, a write costs one look at their state."""

    modules = tuple(
        f"hydrofoil.admission.webhooks.{name}" for name in ("calls", "credentials", "metrics", "mutating", "validating")
    )
    plural: str
    """The resource of the configurations."""

    def __init__(self, deps: PluginDependencies) -> None:
        from hydrofoil.admission.webhooks.source import Source

        self._deps = deps
        registry = deps.registry
        self._made: Parts | None = None
        self._kept: tuple[Hook, ...] = ()
        self._followed: Followed[Source] | None = None
        given = deps.configuration.get(type(self).__name__) or {}
        self._users = kubeconfig.users(given["kubeConfigFile"]) if given.get("kubeConfigFile") else {}
        """The credentials for webhooks, by their servers."""
        resource = registry.catalog.find(GROUP, "v1", self.plural)
        if resource is not None:
            self._followed = Followed(registry.collection(resource), resource.native, Source(), deps.hub)
            self.followed = (self._followed,)

    def idle(self) -> bool:
        return self._followed is None or not self._hooks()

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return self._followed is not None and not exempt(resource)

    def _hooks(self) -> tuple[Hook, ...]:
        assert self._followed is not None, "it handles nothing without"
        found = self._followed.state.hooks
        if found is not self._kept:
            self._kept = found
            if self._made is not None:
                self._made.calls.keep(found)
        return found

    def make(self) -> None:
        """Make the parts that calls use, when there is a webhook."""
        if self._made is None:
            from hydrofoil.admission.matching.target import Equivalents
            from hydrofoil.admission.webhooks.calls import Calls
            from hydrofoil.admission.webhooks.credentials import Credentials, Known
            from hydrofoil.admission.webhooks.dispatch import Parts

            deps = self._deps
            registry = deps.registry
            users = {name: Known(*user) for name, user in self._users.items()}
            calls = Calls(deps.services, Credentials(users))
            equivalents = Equivalents(registry.catalog)
            metrics = deps.metrics.webhooks()
            self._made = Parts(registry, calls, registry.chance, metrics, equivalents, rehearses=deps.rehearses)

    async def close(self) -> None:
        """Close the connections to webhooks."""
        if self._made is not None:
            await self._made.calls.close()


class MutatingAdmissionWebhook(Webhooks):
    """Mutating webhooks."""

    plural = "mutatingwebhookconfigurations"

    def mutate(self, a: Attributes) -> Awaitable[None] | None:
        """Ask the webhooks, and apply their patches. Raise ApiError."""
        hooks = self._hooks()
        if not hooks:
            return None
        if self._made is None:
            return self.first(self.mutate, a)
        from hydrofoil.admission.webhooks.mutating import Mutating

        return Mutating(self._made, a).run(hooks)


class ValidatingAdmissionWebhook(Webhooks):
    """Validating webhooks."""

    plural = "validatingwebhookconfigurations"

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        """Ask the webhooks. Raise ApiError."""
        hooks = self._hooks()
        if not hooks:
            return None
        if self._made is None:
            return self.first(self.validate, a)
        from hydrofoil.admission.webhooks.validating import Validating

        return Validating(self._made, a).run(hooks)
