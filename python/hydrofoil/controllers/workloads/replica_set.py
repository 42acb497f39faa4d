"""Replica sets and replication controllers: so many pods (`pkg/controller/replicaset/replica_set.go`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, ClassVar

import orjson
from msgspec import structs

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.adoption import ControllerRefManager, deletion_check, orphan_keys, orphans
from hydrofoil.controllers.objects.meta import OwnerReference
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import KINDS, UNMANAGED, Pod, controller_of
from hydrofoil.controllers.objects.replica_sets import (
    AnyReplicaSet,
    ReplicaSet,
    ReplicaSetStatus,
    ReplicationController,
    owner_of,
)
from hydrofoil.controllers.pod_control import PodControl, is_namespace_terminating, pod_from_template
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.expectations import UidExpectations
from hydrofoil.controllers.runtime.lister import Lister
from hydrofoil.controllers.runtime.queue import HIGH, NORMAL
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.slow_start import run_batch, slow_start
from hydrofoil.controllers.workloads.pod_order import pods_to_delete
from hydrofoil.controllers.workloads.pod_tally import OWN, PodTally
from hydrofoil.controllers.workloads.replica_status import calculate_status, failure_conditions, status_value
from hydrofoil.controllers.workloads.workload import WorkloadController
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer
from hydrofoil.registry.object_locks import ObjectLocks

BURST = 500
"""The most pods that are created or deleted before their events are awaited (`BurstReplicas`)."""


class ReplicaController(WorkloadController):
    """Keep the number of pods of each set; the two kinds of sets differ in names alone."""

    group: ClassVar[str]
    plural: ClassVar[str]
    api_version: ClassVar[str]
    kind: ClassVar[str]
    component: ClassVar[str]
    value_type: ClassVar[type[Any]]
    reports_terminating: ClassVar[bool]
    """Whether the status has the number of pods that are being deleted."""
    width = 5

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.recorder = runtime.recorder(self.component, self.user)
        self._control = PodControl(self.client, self.recorder, self.resource("", "pods"))
        self._expectations = UidExpectations(self.registry.clock)
        self._locks = ObjectLocks()
        """Those of owners, each of which has one set processed at a time."""
        self._tallies: dict[str, PodTally] = {}
        """The pods of each set that was looked at, by its uid. Each event of a pod keeps them complete."""

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all_served(catalog, ("", "pods"), (cls.group, cls.plural))

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            self.watch(self.group, self.plural, self.value_type, self._on_set),
            self.watch("", "pods", Pod, self._on_pod, KINDS[self.kind] | UNMANAGED),
        ]

    async def stop(self) -> None:
        await super().stop()
        await self.recorder.close()

    @property
    def sets(self) -> Lister[AnyReplicaSet]:
        """Return the sets."""
        return self.lister(self.group, self.plural, self.value_type)

    @property
    def pods(self) -> Lister[Pod]:
        """Return the pods."""
        return self.lister("", "pods", Pod)

    # ---- events

    def _on_set(self, old: AnyReplicaSet | None, new: AnyReplicaSet | None) -> None:
        meta = (new or old).metadata  # type: ignore[union-attr] # one of them is an object
        if new is None:
            # A set of the same name begins anew.
            self._expectations.delete(f"{meta.namespace}/{meta.name}")
            self._tallies.pop(meta.uid, None)
        # A deployment scales one set down and then another one up. Both may be queued before either is processed, in
        # any order: what shrinks is first, or there would be too many pods for a while.
        shrinks = old is not None and new is not None and new.spec.replicas < old.spec.replicas
        self.put(meta.namespace, meta.name, priority=HIGH if shrinks else NORMAL)

    def _resolve(self, namespace: str, owner: OwnerReference | None) -> AnyReplicaSet | None:
        """Return the set that an owner reference names, if it is that one still (`resolveControllerRef`)."""
        if owner is None or owner.kind != self.kind:
            return None
        found = self.sets.get(namespace, owner.name)
        return found if found is not None and found.metadata.uid == owner.uid else None

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        before = None if old is None else old.metadata.controller
        after = None if new is None else new.metadata.controller
        if after is not None and after.kind != self.kind and before == after:
            # Each of the two controllers has the pods of the other one.
            return
        if old is not None and before is not None and (after is None or after.uid != before.uid):
            self._lose(old, before, is_gone=new is None)
        if new is None:
            return
        meta = new.metadata
        if after is None:
            if old is None or before is not None or old.metadata.labels != meta.labels:
                self._offer(new)
            return
        tally = self._tallies.get(after.uid)
        is_same = tally is not None and not tally.put(new, old) and old is not None and before == after
        found = self._resolve(meta.namespace, after)
        if found is None or (is_same and not found.spec.min_ready_seconds):
            # Its binding, or a report, changes nothing that is counted.
            return
        key = f"{meta.namespace}/{found.metadata.name}"
        if new.is_deleting:
            # Its replacement need not wait until it has gone.
            self._expectations.deletion_of_observed(key, meta.uid)
        elif old is None:
            self._expectations.creation_observed(key)
        elif found.spec.min_ready_seconds and new.is_ready and not old.is_ready:
            self.queue.after((meta.namespace, found.metadata.name), found.spec.min_ready_seconds)
        self.put(meta.namespace, found.metadata.name)

    def _lose(self, pod: Pod, owner: OwnerReference, *, is_gone: bool) -> None:
        """Tell a set that a pod is gone, or not its own any more."""
        meta = pod.metadata
        if (tally := self._tallies.get(owner.uid)) is not None:
            tally.remove((meta.namespace, meta.name))
        found = self._resolve(meta.namespace, owner)
        if found is None:
            return
        if is_gone:
            self._expectations.deletion_of_observed(f"{meta.namespace}/{found.metadata.name}", meta.uid)
        self.put(meta.namespace, found.metadata.name)

    def _offer(self, pod: Pod) -> None:
        """Tell all sets that might adopt a pod."""
        if pod.is_deleting:
            return
        meta = pod.metadata
        for found in self.sets.index(namespace_of).get(meta.namespace):
            if found.selector.matches(meta.labels):
                self.put(meta.namespace, found.metadata.name)

    # ---- work

    async def sync(self, namespace: str, name: str) -> bool:
        """Process a set after those of the same owner that were queued before it, as `_on_set` has ordered them."""
        found = self.sets.get(namespace, name)
        owner = None if found is None else found.metadata.controller
        if owner is None:
            return await self._sync(namespace, name)
        async with self._locks.of(((self.group, self.plural), namespace, owner.uid)):
            self.catch_up()
            return await self._sync(namespace, name)

    async def _sync(self, namespace: str, name: str) -> bool:
        """Create and delete pods of a set, and write its status (`syncReplicaSet`)."""
        found, key = self.sets.get(namespace, name), f"{namespace}/{name}"
        if found is None:
            self._expectations.delete(key)
            return True
        self.check(found.metadata)
        owner = Owner(found.metadata, self.api_version, self.kind)
        acts = self._expectations.is_satisfied(key)
        tally = await self._tally(found)
        if not await self._claim(owner, found, tally):
            # Its event is on the way, and queues the set.
            return True
        now = self.registry.clock.seconds()
        status, next_check = await calculate_status(
            found, tally, self.pods, now, reports_terminating=self.reports_terminating
        )
        failure = None
        if acts and not found.metadata.is_deleting:
            failure = await self._manage(owner, found, tally, status.replicas, key)
        excess = status.replicas - found.spec.replicas
        conditions = failure_conditions(status.conditions, failure, excess, self.registry.clock.text())
        await self._write_status(found, structs.replace(status, conditions=conditions))
        if next_check is not None:
            self.queue.after((namespace, name), next_check)
        if failure is not None:
            # A refusal is no matter of other work, and each one is an event.
            self.queue.refuse_key((namespace, name))
        return failure is None

    async def _tally(self, found: AnyReplicaSet) -> PodTally:
        """Return the present states of the pods of a set."""
        uid, labels = found.metadata.uid, found.spec.template.labels
        tally = self._tallies.get(uid)
        if tally is not None and tally.fits(found.selector, labels):
            return tally
        # Events from here on change it as well: each pod is taken as it is at its turn.
        tally = self._tallies[uid] = PodTally(found.selector, labels)
        pacer = Pacer()
        try:
            for pod in self.pods.index(controller_of).get(uid):
                present = self.pods.get(pod.metadata.namespace, pod.metadata.name)
                if present is not None and controller_of(present) == (uid,):
                    tally.put(present)
                await pacer.pause()
        except BaseException:
            del self._tallies[uid]
            raise
        return tally

    async def _claim(self, owner: Owner, found: AnyReplicaSet, tally: PodTally) -> bool:
        """Release pods that are not selected any more and adopt orphans; report whether all are in the tally."""
        candidates = [
            pod
            for pod in orphans(self.pods.index(orphan_keys), owner.metadata.namespace, found.selector)
            if pod.is_active
        ]
        if tally.is_foreign_present:
            candidates += filter(None, (self.pods.get(*place) for place in tally.foreign()))
        if not candidates:
            return True
        check = deletion_check(self.registry, self.resource(self.group, self.plural), owner)
        manager: ControllerRefManager[Pod] = ControllerRefManager(owner, found.selector, self._control.patch, check)
        adopted = await manager.claim(candidates)
        self.catch_up()
        return all((pod.metadata.namespace, pod.metadata.name) in tally for pod in adopted)

    async def _write_status(self, found: AnyReplicaSet, status: ReplicaSetStatus) -> None:
        if status == found.status:
            return
        meta = found.metadata
        resource = self.resource(self.group, self.plural)
        value = status_value(status)
        await self.client.update_status(resource, meta.namespace, meta.name, value, version=meta.resource_version)

    async def _manage(
        self, owner: Owner, found: AnyReplicaSet, tally: PodTally, active: int, key: str
    ) -> ApiError | None:
        """Create or delete pods; return the first refusal (`manageReplicas`)."""
        excess = active - found.spec.replicas
        if not excess:
            return None
        try:
            if excess < 0:
                return await self._create(owner, found, min(-excess, BURST), key)
            return await self._delete(owner, found, tally, min(excess, BURST), key)
        except BaseException:
            # It is unknown which of them will be observed.
            self._expectations.delete(key)
            raise

    async def _create(self, owner: Owner, found: AnyReplicaSet, count: int, key: str) -> ApiError | None:
        self._expectations.expect_creations(key, count)
        body = orjson.dumps(pod_from_template(found.spec.template.value(), owner))
        replicas = self._control.replicas(owner, body)

        async def create(_: int) -> None:
            try:
                await self._control.create(owner, replicas)
            except ApiError as e:
                # Any further one would fail, and the set itself goes soon.
                if not is_namespace_terminating(e):
                    raise

        result = await slow_start(count, create)
        self._expectations.lower(key, creations=count - result.successes)
        return result.failure

    async def _delete(
        self, owner: Owner, found: AnyReplicaSet, tally: PodTally, count: int, key: str
    ) -> ApiError | None:
        now = self.registry.clock.seconds()
        active = [pod for pod in (self.pods.get(*place) for place in tally.places(OWN)) if pod is not None]
        chosen = await pods_to_delete(active, count, await self._related_on_nodes(found), now)
        self._expectations.expect_deletion_of(key, (pod.metadata.uid for pod in chosen))

        async def delete(number: int) -> None:
            meta = chosen[number].metadata
            try:
                await self._control.delete_pod(owner, meta.name)
            except ApiError as e:
                self._expectations.deletion_of_observed(key, meta.uid)
                if e.code != 404:
                    raise

        return (await run_batch(len(chosen), delete)).failure

    async def _related_on_nodes(self, found: AnyReplicaSet) -> Counter[str]:
        """Return the numbers of pods on nodes that sets of the same owner manage (`getIndirectlyRelatedPods`)."""
        owner = found.metadata.controller
        # A set without an owner has no relatives, itself included.
        related = () if owner is None else self.sets.index(owner_of).get(owner.uid)
        by_owner, pacer, counts = self.pods.index(controller_of), Pacer(), Counter[str]()
        for one in related:
            for pod in by_owner.get(one.metadata.uid):
                if pod.is_active:
                    counts[pod.spec.node_name] += 1
                await pacer.pause()
        return counts


def namespace_of(found: AnyReplicaSet) -> tuple[str, ...]:
    """Return the namespace of a set, for an index."""
    return (found.metadata.namespace,)


class ReplicaSetController(ReplicaController):
    """Keep the numbers of pods of replica sets."""

    name = "replicaset"
    user = service_account("replicaset-controller")
    group, plural, api_version, kind = "apps", "replicasets", "apps/v1", "ReplicaSet"
    component = "replicaset-controller"
    value_type = ReplicaSet
    reports_terminating = True


class ReplicationControllerController(ReplicaController):
    """Keep the numbers of pods of replication controllers (`pkg/controller/replication`)."""

    name = "replicationcontroller"
    user = service_account("replication-controller")
    group, plural, api_version, kind = "", "replicationcontrollers", "v1", "ReplicationController"
    component = "replication-controller"
    value_type = ReplicationController
    reports_terminating = False
