"""Daemon sets: a pod on each node (`pkg/controller/daemon`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import structs

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.adoption import ControllerRefManager, deletion_check, orphan_keys, orphans
from hydrofoil.controllers.objects.daemon_sets import ROLLING_UPDATE, DaemonSet, DaemonSetStatus
from hydrofoil.controllers.objects.meta import OwnerReference
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import OF_DAEMON_SET, SUCCEEDED, UNMANAGED, Pod, controller_of, node_of
from hydrofoil.controllers.objects.revisions import ControllerRevision
from hydrofoil.controllers.pod_control import PodControl
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.expectations import Expectations
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.workloads.daemon_history import DaemonHistory, NameTaken, hash_of
from hydrofoil.controllers.workloads.daemon_nodes import DaemonLook, DaemonNode
from hydrofoil.controllers.workloads.daemon_pods import API_VERSION, KIND, DaemonTemplate, Placement, target_node
from hydrofoil.controllers.workloads.daemon_writes import DaemonWrites
from hydrofoil.controllers.workloads.history import History
from hydrofoil.controllers.workloads.pod_backoff import PodBackoff
from hydrofoil.controllers.workloads.workload import WorkloadController
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer

GROUP, PLURAL = "apps", "daemonsets"


def namespace_of(found: DaemonSet) -> tuple[str, ...]:
    """Return the namespace of a set, for an index."""
    return (found.metadata.namespace,)


def status_value(status: DaemonSetStatus) -> dict[str, Any]:
    """Return a status as it is written."""
    found: dict[str, Any] = {
        "currentNumberScheduled": status.current_number_scheduled,
        "numberMisscheduled": status.number_misscheduled,
        "desiredNumberScheduled": status.desired_number_scheduled,
        "numberReady": status.number_ready,
        "observedGeneration": status.observed_generation,
        "updatedNumberScheduled": status.updated_number_scheduled,
        "numberAvailable": status.number_available,
        "numberUnavailable": status.number_unavailable,
    }
    if status.collision_count is not None:
        found["collisionCount"] = status.collision_count
    return found


class DaemonSetController(WorkloadController):
    """Keep the pods of daemon sets. A key is a set, or a node: then its namespace is empty."""

    name = "daemonset"
    user = service_account("daemon-set-controller")
    width = 2

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder("daemonset-controller", self.user)
        self._control = PodControl(self.client, self._recorder, self.resource("", "pods"))
        self._expectations = Expectations(self.registry.clock)
        self._backoff = PodBackoff(self.registry.clock)
        self._placements: dict[str, tuple[int, Placement]] = {}
        """The nodes of each set by its uid, with the generation of its template."""

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        needed = (("", "pods"), ("", "nodes"), (GROUP, "controllerrevisions"), (GROUP, PLURAL))
        return all_served(catalog, *needed)

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            self.watch(GROUP, PLURAL, DaemonSet, self._on_set),
            self.watch(GROUP, "controllerrevisions", ControllerRevision, self._on_revision),
            self.watch("", "pods", Pod, self._on_pod, OF_DAEMON_SET | UNMANAGED),
            self.watch("", "nodes", Node, self._on_node),
        ]

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    # ---- events

    def _on_set(self, old: DaemonSet | None, new: DaemonSet | None) -> None:
        meta = (new or old).metadata  # type: ignore[union-attr] # one of them is an object
        if new is None:
            self._expectations.delete(f"{meta.namespace}/{meta.name}")
            self._placements.pop(meta.uid, None)
        self.put(meta.namespace, meta.name)

    def _resolve(self, namespace: str, owner: OwnerReference | None) -> DaemonSet | None:
        """Return the set that an owner reference names, if it is that one still."""
        if owner is None or owner.kind != KIND:
            return None
        found = self.lister(GROUP, PLURAL, DaemonSet).get(namespace, owner.name)
        return found if found is not None and found.metadata.uid == owner.uid else None

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        either = new or old
        assert either is not None
        owner = either.metadata.controller
        if owner is not None and owner.kind != KIND and (old is None or owner == old.metadata.controller):
            # Most pods are none of a daemon set.
            return
        self._on_owned(old, new)
        found = self._resolve(either.metadata.namespace, either.metadata.controller)
        if found is None:
            return
        key = f"{found.metadata.namespace}/{found.metadata.name}"
        was_deleting = old is not None and old.is_deleting
        if (new is None or new.is_deleting) and not was_deleting:
            # Once for each pod, which may take a while to go.
            self._expectations.deletion_observed(key)
        elif old is None:
            self._expectations.creation_observed(key)
        elif found.spec.min_ready_seconds and new is not None and new.is_ready and not old.is_ready:
            self.queue.after((found.metadata.namespace, found.metadata.name), found.spec.min_ready_seconds)

    def _on_revision(self, old: ControllerRevision | None, new: ControllerRevision | None) -> None:
        # A new revision of a set is its own doing.
        if old is not None or (new is not None and new.metadata.controller is None):
            self._on_owned(old, new)

    def _on_owned(self, old: Pod | ControllerRevision | None, new: Pod | ControllerRevision | None) -> None:
        """Queue the sets that have or had an object, or might adopt it."""
        before = None if old is None else old.metadata.controller
        after = None if new is None else new.metadata.controller
        if old is not None and before is not None and before != after:
            if self._resolve(old.metadata.namespace, before) is not None:
                self.put(old.metadata.namespace, before.name)
        if new is None:
            return
        meta = new.metadata
        if after is not None:
            if self._resolve(meta.namespace, after) is not None:
                self.put(meta.namespace, after.name)
        elif not meta.is_deleting and (old is None or before is not None or old.metadata.labels != meta.labels):
            for found in self.lister(GROUP, PLURAL, DaemonSet).index(namespace_of).get(meta.namespace):
                if found.spec.selector.matches(meta.labels):
                    self.put(meta.namespace, found.metadata.name)

    def _on_node(self, old: Node | None, new: Node | None) -> None:
        # Pods of a node that is gone are deleted by others, and queue their sets.
        if new is not None and (
            old is None or old.metadata.labels != new.metadata.labels or old.spec.taints != new.spec.taints
        ):
            self.put("", new.metadata.name)

    # ---- work

    def _placement(self, found: DaemonSet) -> Placement:
        known = self._placements.get(found.metadata.uid)
        if known is None or known[0] != found.metadata.generation:
            known = found.metadata.generation, Placement(found)
            self._placements[found.metadata.uid] = known
        return known[1]

    async def sync(self, namespace: str, name: str) -> bool:
        """Take the next step of a set, or queue those that a node concerns."""
        if not namespace:
            await self._sync_node(name)
            return True
        found, key = self.lister(GROUP, PLURAL, DaemonSet).get(namespace, name), f"{namespace}/{name}"
        if found is None:
            self._expectations.delete(key)
            return True
        self.check(found.metadata)
        owner = Owner(found.metadata, API_VERSION, KIND)
        if found.spec.selector.is_empty:
            message = "This daemon set is selecting all pods. A non-empty selector is required."
            self._recorder.record(owner.about, WARNING, "SelectingAll", message)
            return True
        if found.metadata.is_deleting:
            # Its revisions may be gone before its pods.
            return True
        await self._sync(owner, found, key)
        return True

    async def _sync_node(self, name: str) -> None:
        """Queue the sets that a node has to get a pod of, or may not keep one of (`syncNodeUpdate`)."""
        node = self.lister("", "nodes", Node).get("", name)
        if node is None:
            return
        owners = {
            owner.uid
            for pod in self.lister("", "pods", Pod).index(node_of).get(name)
            if (owner := pod.metadata.controller) is not None
        }
        pacer = Pacer()
        for found in list(self.lister(GROUP, PLURAL, DaemonSet)):
            should_run, may_run = self._placement(found).judge(node)
            if found.metadata.uid in owners:
                is_concerned = not may_run or found.status.number_misscheduled > 0
            else:
                is_concerned = should_run
            if is_concerned:
                self.put(found.metadata.namespace, found.metadata.name)
            await pacer.pause()

    async def _sync(self, owner: Owner, found: DaemonSet, key: str) -> None:
        can_adopt = deletion_check(self.registry, self.resource(GROUP, PLURAL), owner)
        pods = await self._claim(owner, found, can_adopt)
        history = DaemonHistory(self._history(), self._control, owner, found)
        try:
            current, former = await history.construct(pods, can_adopt)
        except NameTaken:
            status = structs.replace(found.status, collision_count=(found.status.collision_count or 0) + 1)
            return await self._write_status(found, status)
        look = await self._look(found, pods, hash_of(current))
        if not self._expectations.is_satisfied(key):
            return await self._write_status(found, look.status(observes=False))
        writes = DaemonWrites(self._control, self._expectations, owner, DaemonTemplate(found, hash_of(current)))
        failure: ApiError | None = None
        # A thousand nodes are some milliseconds for each of the steps.
        pacer = Pacer()
        try:
            plan = look.manage(self._is_ended_pod_deleted(owner, found))
            await writes.apply(plan)
            await pacer.pause()
            # What was written now is not in this look: the next one goes on.
            if not plan.create and not plan.delete and found.spec.update_strategy.type == ROLLING_UPDATE:
                await writes.apply(look.roll())
                await pacer.pause()
            await history.clean_up(former, pods)
        except ApiError as e:
            failure = e
        await self._write_status(found, look.status(observes=True))
        if failure is not None:
            raise failure
        return None

    def _history(self) -> History:
        resource = self.resource(GROUP, "controllerrevisions")
        lister = self.lister(GROUP, "controllerrevisions", ControllerRevision)
        return History(self.client, self.registry, resource, lister)

    async def _claim(self, owner: Owner, found: DaemonSet, can_adopt: Callable[[], None]) -> list[Pod]:
        """Return the pods of a set, after it has adopted and released some."""
        pods = self.lister("", "pods", Pod)
        candidates = pods.index(controller_of).get(owner.metadata.uid)
        candidates += orphans(pods.index(orphan_keys), owner.metadata.namespace, found.spec.selector)
        manager: ControllerRefManager[Pod] = ControllerRefManager(
            owner, found.spec.selector, self._control.patch, can_adopt
        )
        return await manager.claim(candidates)

    async def _look(self, found: DaemonSet, pods: Iterable[Pod], text: str) -> DaemonLook:
        """Return all nodes with their pods."""
        by_node: dict[str, list[Pod]] = {}
        for pod in pods:
            # One that has ended and is deleted is up to others.
            if not (pod.is_ended and pod.is_deleting) and (name := target_node(pod)):
                by_node.setdefault(name, []).append(pod)
        placement, pacer = self._placement(found), Pacer()
        nodes = []
        for node in list(self.lister("", "nodes", Node)):
            should_run, may_run = placement.judge(node)
            nodes.append(DaemonNode(node.metadata.name, should_run, may_run, by_node.pop(node.metadata.name, [])))
            await pacer.pause()
        nodes += [DaemonNode(name, False, False, left, exists=False) for name, left in by_node.items()]
        return DaemonLook(found, text, nodes, self.registry.clock.seconds())

    def _is_ended_pod_deleted(self, owner: Owner, found: DaemonSet) -> Callable[[Pod, str], bool]:
        """Return what says whether a pod of a node that has ended is deleted now, with an Event about it."""

        def decide(pod: Pod, node: str) -> bool:
            where = f"daemon pod {pod.metadata.namespace}/{pod.metadata.name} on node {node}"
            if pod.status.phase == SUCCEEDED:
                message = f"Found succeeded {where}, will try to delete it"
                self._recorder.record(owner.about, NORMAL, "SucceededDaemonPod", message)
                return True
            # The node may refuse each new one.
            key = f"{found.metadata.uid}/{found.status.observed_generation}/{node}"
            if delay := self._backoff.remaining(key):
                self.queue.after((found.metadata.namespace, found.metadata.name), delay)
                return False
            self._backoff.next(key)
            message = f"Found failed {where}, will try to kill it"
            self._recorder.record(owner.about, WARNING, "FailedDaemonPod", message)
            return True

        return decide

    async def _write_status(self, found: DaemonSet, status: DaemonSetStatus) -> None:
        """Write the status if it has changed, and look again when pods have been ready for long enough."""
        meta = found.metadata
        if status != found.status:
            resource, value = self.resource(GROUP, PLURAL), status_value(status)
            await self.client.update_status(resource, meta.namespace, meta.name, value, version=meta.resource_version)
        if found.spec.min_ready_seconds and status.number_ready != status.number_available:
            self.queue.after((meta.namespace, meta.name), found.spec.min_ready_seconds)
