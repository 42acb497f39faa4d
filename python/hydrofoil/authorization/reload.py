"""The authorizers of `--authorization-config`, made anew when it changes (kubeapiserver `authorizer/reload.go`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from hydrofoil.authorization.conditions import Condition, Conditions
from hydrofoil.authorization.configuration import Configured, load
from hydrofoil.authorization.metrics import Counted, Metrics
from hydrofoil.authorization.webhook import Settings, Webhook, review_of
from hydrofoil.clock import Clock
from hydrofoil.errors import FAULTS
from hydrofoil.outbound import kubeconfig
from hydrofoil.reloads import Reloads
from hydrofoil.request import Authorizer

LOG = logging.getLogger("hydrofoil")
LARGEST = 1 << 20
"""The greatest size of the file, in bytes."""


def webhook(configured: Configured, clock: Clock, metrics: Metrics) -> Webhook:
    """Return a webhook as it is configured; it reads files. Raise ValueError with one line."""
    config = configured.webhook
    assert config is not None, "validation requires it"
    conditions = [Condition(text) for text in config.conditions]
    client = review_of(kubeconfig.read(config.kubeconfig), config.timeout)
    settings = Settings(configured.name, config.version, config.allowed_ttl, config.refused_ttl, config.deny)
    return Webhook(settings, client, Conditions(conditions, configured.name, metrics), clock, metrics)


class Lasting:
    """The authorizers that live as long as the server, by type: reloads leave them as they are."""

    def __init__(self, factories: dict[str, Callable[[], Authorizer]]) -> None:
        self._factories = factories
        self._made: dict[str, Authorizer] = {}

    def get(self, kind: str, *, first: bool) -> Authorizer:
        """Return the authorizer of a type. Raise ValueError for one that begins after the start."""
        if kind not in self._made:
            if not first and kind in ("AlwaysAllow", "Node", "RBAC"):
                # A server that begins without AlwaysAllow may have anonymous users, and never lets them do everything.
                text = "is not allowed if it was not enabled at initial server startup"
                raise ValueError(f"authorizer type {kind} {text}")
            self._made[kind] = self._factories[kind]()
        return self._made[kind]


class Configuration:
    """The file, and the authorizers that it names."""

    def __init__(
        self,
        path: str,
        lasting: Lasting,
        clock: Clock,
        metrics: Metrics,
        took_effect: Callable[[Sequence[Authorizer]], None],
    ) -> None:
        """Call `took_effect` with the authorizers of each reload. Raise ValueError with one line."""
        self._path = path
        self._lasting = lasting
        self._clock = clock
        self._metrics = metrics
        self._took_effect = took_effect
        self._reloading: asyncio.Task[None] | None = None
        self._again = False
        self._data = read(path)
        self._configured = load(self._data)
        self.reloads = Reloads("authorization", clock)
        self.reloads.loaded(self._data)
        self._required = {each.type for each in self._configured} - {"Webhook"}
        """Types that a changed file must name as well."""
        self.webhooks: list[Webhook] = []
        self.authorizers = self._made(self._configured, self._webhooks(self._configured), first=True)

    @property
    def types(self) -> list[str]:
        """Return the types of the authorizers in their order."""
        return [each.type for each in self._configured]

    def _webhooks(self, configured: Sequence[Configured]) -> list[Webhook]:
        return [webhook(each, self._clock, self._metrics) for each in configured if each.type == "Webhook"]

    def _made(
        self, configured: Sequence[Configured], webhooks: list[Webhook], *, first: bool = False
    ) -> tuple[Authorizer, ...]:
        rest = iter(webhooks)
        made = tuple(
            Counted(
                next(rest) if each.type == "Webhook" else self._lasting.get(each.type, first=first),
                each.type,
                each.name,
                self._metrics,
            )
            for each in configured
        )
        for old in self.webhooks:
            old.close()
        self.webhooks = webhooks
        return made

    def changed(self) -> None:
        """Read the file again, off the loop."""
        if self._reloading is None:
            self._reloading = asyncio.create_task(self._reload(), name="authorization configuration")
        else:
            self._again = True

    async def _reload(self) -> None:
        try:
            while True:
                self._again = False
                await self._once()
                if not self._again:
                    return
        finally:
            self._reloading = None

    async def _once(self) -> None:
        """Put new content in force; content that is not good leaves the old one in force."""
        try:
            data = await asyncio.to_thread(read, self._path)
            if data == self._data:
                return
            self._data = data
            configured = await asyncio.to_thread(load, data, self._required)
            if configured == self._configured:
                return
            webhooks = await asyncio.to_thread(self._webhooks, configured)
            authorizers = self._made(configured, webhooks)
        except FAULTS as e:
            LOG.error("reloading authorization config: %s", e)
            self.reloads.failed()
            return
        self._configured = configured
        self.authorizers = authorizers
        self._took_effect(authorizers)
        self.reloads.succeeded(data)
        LOG.info("reloaded authz config")

    async def close(self) -> None:
        """Stop, and close all connections."""
        if self._reloading is not None:
            self._reloading.cancel()
        for each in self.webhooks:
            each.close()


def read(path: str) -> bytes:
    """Return the content of the file. Raise ValueError with one line."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as e:
        raise ValueError(f"open {path}: {(e.strerror or 'cannot be read').lower()}") from None
    if len(data) > LARGEST:
        raise ValueError(f"{path} is larger than {LARGEST} bytes")
    return data
