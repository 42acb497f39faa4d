"""The usage of quotas (`pkg/controller/resourcequota/resource_quota_controller.go`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil import engine
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.clock import Timer
from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.objects.quantities import parse_quantity
from hydrofoil.controllers.policies.quota_events import releases
from hydrofoil.controllers.runtime.batch_period import BatchPeriod
from hydrofoil.controllers.runtime.controller import ValueWatch, Watch, all_served
from hydrofoil.controllers.runtime.queue import LOW
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.workloads.workload import WorkloadController
from hydrofoil.engine import Stored
from hydrofoil.pace.pacer import Pacer
from hydrofoil.watch.queue import Key

BATCH = 64
"""The number of objects that are counted in one call."""
MEASURED = (
    ("", "pods"),
    ("", "services"),
    ("", "persistentvolumeclaims"),
    ("", "configmaps"),
    ("", "resourcequotas"),
    ("", "replicationcontrollers"),
    ("", "secrets"),
    ("resource.k8s.io", "resourceclaims"),
)
"""Group and plural of the resources that quotas measure by other names than `count/...`."""
COUNT = "count/"
Amounts = dict[str, str]


class QuotaSpec(Struct, frozen=True):
    """The limits of a quota."""

    hard: Amounts = {}


class QuotaStatus(Struct, frozen=True):
    """The limits that are in force, and the usage."""

    hard: Amounts | None = None
    used: Amounts | None = None


class ResourceQuota(Struct, frozen=True):
    """A quota."""

    metadata: ObjectMeta
    spec: QuotaSpec = QuotaSpec()
    status: QuotaStatus = QuotaStatus()


def equal_amounts(left: Amounts | None, right: Amounts | None) -> bool:
    """Report whether amounts are equal, however they are written; none are not equal to an empty map."""
    if left is None or right is None:
        return left is right
    return left.keys() == right.keys() and all(
        left[name] == right[name] or parse_quantity(left[name]) == parse_quantity(right[name]) for name in left
    )


class ResourceQuotaController(WorkloadController):
    """Count what each quota measures: when it is new, when something goes, and from time to time.

    Writes are charged by admission before they are made; only what ends or fails is counted here.
    """

    name = "resourcequota"
    user = service_account("resourcequota-controller")
    width = 5

    def __init__(self, runtime: Runtime, period: float) -> None:
        """Take the seconds between two counts of all quotas (`--resource-quota-sync-period`)."""
        super().__init__(runtime)
        self._batch = BatchPeriod(runtime, self.queue)
        self._period = period
        self._timer: Timer | None = None
        self._needed: dict[tuple[str, str], None] = {}
        """Group and plural of the resources that some quota has measured since the start."""
        self._by_namespace: dict[str, dict[str, frozenset[tuple[str, str]]]] = {}
        """What each quota measures, by namespace and name."""

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether quotas are served."""
        return all_served(catalog, ("", "resourcequotas"))

    def watches(self) -> Iterable[Watch | ValueWatch[Any]]:
        found: list[Watch | ValueWatch[Any]] = [self.watch("", "resourcequotas", ResourceQuota, self._on_quota)]
        for key in self._needed:
            resource = self._find(*key)
            if resource is not None and key != ("", "resourcequotas"):
                found.append((resource, partial(self._on_object, key)))
        return found

    def start(self) -> None:
        super().start()
        self._quotas = self.lister("", "resourcequotas", ResourceQuota)
        self._again()

    def _again(self) -> None:
        """Count all quotas after a while. However far a clock is moved, they are counted once."""
        self._timer = self.registry.clock.later(self._period, self._count_all, repeats=True)

    def _count_all(self) -> None:
        for quota in self._quotas:
            self.put(quota.metadata.namespace, quota.metadata.name, priority=LOW)
        self._again()

    async def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await super().stop()

    def _find(self, group: str, plural: str) -> Resource | None:
        """Return a resource that is stored, in any of its versions."""
        served = self.registry.catalog.groups.get(group, {}).values()
        found = (versions[plural] for versions in served if plural in versions)
        return next((one for one in found if one.namespaced and "create" in one.verbs and "list" in one.verbs), None)

    # ---- events

    def _on_quota(self, old: ResourceQuota | None, new: ResourceQuota | None) -> None:
        either = old if new is None else new
        assert either is not None
        meta = either.metadata
        if new is None:
            quotas = self._by_namespace.get(meta.namespace, {})
            quotas.pop(meta.name, None)
            if not quotas:
                self._by_namespace.pop(meta.namespace, None)
        elif old is None or not equal_amounts(old.spec.hard, new.spec.hard):
            measured = frozenset(self._measured(new))
            self._by_namespace.setdefault(meta.namespace, {})[meta.name] = measured
            self.put(meta.namespace, meta.name)
        if old is not None:
            # Quotas count quotas as well; those of the namespace hear of the end of this one.
            self._on_release(("", "resourcequotas"), meta.namespace, is_gone=new is None)

    def _measured(self, quota: ResourceQuota) -> Iterator[tuple[str, str]]:
        """Yield group and plural of what a quota may measure."""
        yield from MEASURED
        for name in quota.spec.hard:
            if name.startswith(COUNT):
                plural, _, group = name.removeprefix(COUNT).partition(".")
                yield group, plural

    def _on_object(self, key: tuple[str, str], old: Stored | None, new: Stored | None) -> None:
        if old is not None and old.namespace in self._by_namespace and (new is None or releases(key, old, new)):
            self._on_release(key, old.namespace, is_gone=True)

    def _on_release(self, key: tuple[str, str], namespace: str, *, is_gone: bool) -> None:
        if is_gone:
            for name, measured in self._by_namespace.get(namespace, {}).items():
                if key in measured:
                    self.put(namespace, name)

    # ---- work

    async def work(self, key: Key) -> bool:
        """Count a quota, once for many ends of objects."""
        await self._batch.wait()
        return await super().work(key)

    async def sync(self, namespace: str, name: str) -> bool:
        """Count what a quota measures, and write its status if that differs (`syncResourceQuota`)."""
        quota = self._quotas.get(namespace, name)
        resource = self.resource("", "resourcequotas")
        stored = self.registry.collection(resource).get(resource.native, namespace, name)
        if quota is None or stored is None or str(stored.revision) != quota.metadata.resource_version:
            # Its event is on the way.
            return True
        self.check(quota.metadata)
        counted: Amounts = {}
        for key in dict.fromkeys(self._measured(quota)):
            counted |= await self._count(key, stored)
        hard, status = quota.spec.hard, quota.status
        used = {name: amount for name, amount in ((status.used or {}) | counted).items() if name in hard}
        if equal_amounts(hard, status.hard) and equal_amounts(used, status.used):
            return True
        value = {"hard": hard, "used": used}
        await self.client.update_status(resource, namespace, name, value, version=quota.metadata.resource_version)
        return True

    async def _count(self, key: tuple[str, str], quota: Stored) -> Amounts:
        """Return the usage of a quota by the objects of one resource; empty if it has no limit for them."""
        resource = self._find(*key)
        used = b"" if resource is None else engine.quota_usage(key, quota, b"", [])
        if resource is None or not used:
            return {}
        if key not in self._needed:
            # From now on ends of such objects are events. They are watched before they are counted.
            self._needed[key] = None
            self.discover()
        pacer, batch = Pacer(), list[Stored]()
        async for stored in self.registry.walk(resource, quota.namespace, pacer):
            batch.append(stored)
            if len(batch) == BATCH:
                used, batch = engine.quota_usage(key, quota, used, batch), []
                await pacer.pause()
        found: Amounts = orjson.loads(engine.quota_usage(key, quota, used, batch))
        return found
