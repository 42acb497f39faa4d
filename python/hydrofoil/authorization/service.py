"""Authorization of one server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from prometheus_client.registry import Collector

from hydrofoil.authorization.metrics import Counted, Metrics
from hydrofoil.authorization.options import AuthorizationOptions, check, modes
from hydrofoil.authorization.rbac.authorizer import RBAC
from hydrofoil.authorization.rbac.granting import BindingStrategy, RoleStrategy
from hydrofoil.authorization.rbac.rights import GROUP
from hydrofoil.authorization.union import AlwaysDeny, Union
from hydrofoil.clock import Clock
from hydrofoil.files import Files
from hydrofoil.options import Texts
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategy import Strategy
from hydrofoil.request import ALWAYS_ALLOW, Authorizer
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.hub import Hub

if TYPE_CHECKING:
    # Most servers have neither nodes nor webhooks, and start without their modules.
    from hydrofoil.authorization.node.authorizer import NodeAuthorizer
    from hydrofoil.authorization.reload import Configuration
    from hydrofoil.authorization.webhook import Webhook

WEBHOOK_SECONDS = 30.0
"""The time limit of a call of the webhook of the flags."""


class Authorization:
    """The authorizers that the flags name, in their order."""

    def __init__(
        self,
        options: AuthorizationOptions,
        registry: Registry,
        hub: Hub,
        clock: Clock,
        files: Files,
        *,
        secured: bool,
        distinguishes: bool = False,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """`secured`: the default mode is RBAC instead of AlwaysAllow. Raise ValueError with one line.

        `distinguishes`: where every caller may do everything, only administrators do so; others have what roles allow
        them. `changed` is called when a file has named other authorizers.
        """
        check(options)
        self._changed = changed
        self._registry = registry
        self._hub = hub
        self._clock = clock
        self._options = options
        self.rbac = RBAC(registry, hub)
        self.metrics = Metrics()
        self.node: NodeAuthorizer | None = None
        self._webhook: Webhook | None = None
        self._distinguishes = False
        self.factories: dict[str, Callable[[], Authorizer]] = {
            "AlwaysAllow": lambda: ALWAYS_ALLOW,
            "AlwaysDeny": AlwaysDeny,
            "RBAC": lambda: self.rbac,
            "Node": self._make_node,
            "Webhook": self._make_webhook,
        }
        """The authorizers by mode."""
        self.configuration: Configuration | None = None
        self.modes = modes(options, secured)
        """The modes in their order."""
        self.authorizer: Authorizer = ALWAYS_ALLOW
        """The decision on what callers may do."""
        self.others: Authorizer = ALWAYS_ALLOW
        """The decision on users that callers act as or ask about."""
        made: list[Authorizer] = [self.factories[mode]() for mode in self.modes]
        if not options.authorization_mode and not options.authorization_config and not secured:
            # Every caller may do everything, and try out with `--as` and in reviews what roles allow others.
            self.others = Union([self.rbac])
        elif options.authorization_config:
            found = self._configured(options.authorization_config, files)
            self.modes = Texts(found.types)
            self.authorizer = self.others = Union(found.authorizers)
        elif made != [ALWAYS_ALLOW]:
            named = zip(made, self.modes, strict=True)
            self.authorizer = self.others = Union([Counted(a, m, name_of(m), self.metrics) for a, m in named])
        if distinguishes and self.open and self.others is not ALWAYS_ALLOW:
            self.authorizer = self.others
            self._distinguishes = True
        self.followed: list[Followed[Any]] = []
        """The states that decisions depend on."""

    @property
    def collectors(self) -> list[Collector]:
        """Return the metrics of authorizers and of the configuration."""
        return [self.metrics, *([] if self.configuration is None else [self.configuration.reloads])]

    def _make_node(self) -> Authorizer:
        from hydrofoil.authorization.node.authorizer import NodeAuthorizer

        self.node = NodeAuthorizer(self._registry, self._hub)
        return self.node

    def _make_webhook(self) -> Authorizer:
        """Return the webhook of the flags (`buildAuthorizationConfiguration`). Raise ValueError with one line."""
        from hydrofoil.authorization.configuration import Configured, WebhookConfig
        from hydrofoil.authorization.reload import webhook

        options = self._options
        config = WebhookConfig(
            options.authorization_webhook_config_file,
            options.authorization_webhook_version,
            WEBHOOK_SECONDS,
            options.authorization_webhook_cache_authorized_ttl,
            options.authorization_webhook_cache_unauthorized_ttl,
        )
        self._webhook = webhook(Configured("Webhook", name_of("Webhook"), config), self._clock, self.metrics)
        return self._webhook

    def _configured(self, path: str, files: Files) -> Configuration:
        """Return the authorizers of a file, which is read again when it changes. Raise ValueError with one line."""
        from hydrofoil.authorization.reload import Configuration, Lasting

        def took_effect(authorizers: Sequence[Authorizer]) -> None:
            assert isinstance(self.authorizer, Union), "a file always makes one"
            self.authorizer.authorizers = tuple(authorizers)
            self._changed()

        found = Configuration(path, Lasting(self.factories), self._clock, self.metrics, took_effect)
        self.configuration = found
        files.watch(path, changed=found.changed)
        return found

    @property
    def open(self) -> bool:
        """Report whether every caller may do everything, so that no filter asks."""
        return self.authorizer is ALWAYS_ALLOW

    def rests_on(self) -> Sequence[Followed[Any]]:
        """Return the states with which standing decisions change; a file may name roles later."""
        named = "RBAC" in self.modes or self._options.authorization_config
        return self.rbac.followed() if named else ()

    @property
    def reconciles(self) -> bool:
        """Report whether the default roles and bindings are kept (`rbac/bootstrap-roles`)."""
        return "RBAC" in self.modes or self.others is not self.authorizer or self._distinguishes

    @property
    def strategies(self) -> dict[tuple[str, str], Strategy]:
        """Return the strategies of roles and bindings, by group and resource."""
        return {
            (GROUP, "roles"): RoleStrategy(self._registry, self.rbac),
            (GROUP, "clusterroles"): RoleStrategy(self._registry, self.rbac),
            (GROUP, "rolebindings"): BindingStrategy(self._registry, self.rbac),
            (GROUP, "clusterrolebindings"): BindingStrategy(self._registry, self.rbac),
        }

    async def start(self) -> None:
        """Begin what changes beside requests. Raise ValueError with one line."""
        if "RBAC" in self.modes:
            for followed in self.rbac.followed():
                await followed.fresh()
        if self.node is not None:
            await self.node.start()

    async def close(self) -> None:
        """Stop all work beside requests."""
        self.rbac.close()
        if self.node is not None:
            self.node.close()
        if self._webhook is not None:
            self._webhook.close()
        if self.configuration is not None:
            await self.configuration.close()


def name_of(mode: str) -> str:
    """Return the name of an authorizer that flags name (`getNameForAuthorizerMode`)."""
    return "default" if mode == "Webhook" else mode.lower()
