"""The EventRateLimit admission plug-in (plugin/pkg/admission/eventratelimit)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin
from hydrofoil.admission.plugin_dependencies import PluginDependencies
from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.registry.write import Operation

TYPES = ("Server", "Namespace", "User", "SourceAndObject")
CACHED = 4096
"""The number of keys of a limit that are remembered, unless it names another."""
INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion")


class Limit:
    """Token buckets by key; the key that was not used for longest is forgotten first."""

    def __init__(self, raw: dict[str, Any], clock: Clock) -> None:
        """Raise ValueError for a limit of unknown type."""
        self.type: str = raw.get("type", "")
        if self.type not in TYPES:
            raise ValueError(f"unknown event rate limit type: {self.type}")
        self._rate = float(raw.get("qps") or 0)
        self._burst = float(raw.get("burst") or 0)
        if self._rate <= 0 or self._burst < self._rate:
            raise ValueError("limits must have a positive qps, and a burst of at least that")
        self._size = int(raw.get("cacheSize") or CACHED)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def accept(self, key: str) -> bool:
        """Take a token."""
        now = self._clock.seconds()
        left, then = self._buckets.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        accepted = left >= 1
        if len(self._buckets) >= self._size:
            del self._buckets[next(iter(self._buckets))]
        self._buckets[key] = (left - 1 if accepted else left, now)
        return accepted


class EventRateLimit(Plugin):
    """Limit the rate of events."""

    repeats = False

    def __init__(self, deps: PluginDependencies) -> None:
        """Raise ValueError for an invalid configuration."""
        given: Any = deps.configuration.get("EventRateLimit") or {}
        self._limits = [Limit(raw, deps.registry.clock) for raw in given.get("limits") or ()]
        if not self._limits:
            raise ValueError("admission plugin EventRateLimit: limits: Invalid value: must not be empty")

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        return resource.storage == ("", "events") and operation in ("CREATE", "UPDATE")

    def validate(self, a: Attributes) -> None:
        """Raise ApiError 429; every limit counts the event."""
        if a.dry_run:
            return
        refused = []
        for limit in self._limits:
            key = _key(limit.type, a)
            if not limit.accept(key):
                refused.append(f"limit reached on type {limit.type} for key {key}")
        if refused:
            raise errors.ApiError(429, "TooManyRequests", errors.aggregate(refused))


def _key(kind: str, a: Attributes) -> str:
    if kind == "Namespace":
        return a.namespace
    if kind == "User":
        return a.user.name
    if kind == "Server":
        return ""
    event = orjson.loads(a.object.json())
    source = event.get("source") or event.get("deprecatedSource") or {}
    involved = event.get("involvedObject") or event.get("regarding") or {}
    texts = [source.get("component", ""), source.get("host", ""), *(involved.get(name, "") for name in INVOLVED)]
    return "".join(texts)
