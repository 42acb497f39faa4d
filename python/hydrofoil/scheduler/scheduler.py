"""The queue of pods without a node, and the outcome of each attempt (`scheduler.go`, `schedule_one.go`)."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.conditions import put_condition
from hydrofoil.controllers.objects.budgets import PodDisruptionBudget
from hydrofoil.controllers.objects.namespaces import Namespace
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.resource_claims import ResourceClaim
from hydrofoil.controllers.objects.volumes import SELECTED_NODE, PersistentVolume, PersistentVolumeClaim, StorageClass
from hydrofoil.controllers.runtime.client import LEAVE_ALONE, Client, LeftAlone
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.volumes.binder import bind_to_claim
from hydrofoil.endpoints.subresources.binding import assign
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.write import Write
from hydrofoil.request import User
from hydrofoil.scheduler.attempt import Attempts, Failure, Place
from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.node_info import PodInfo
from hydrofoil.scheduler.preemption import (
    BY_SCHEDULER,
    HELPLESS,
    Candidate,
    find_candidate,
    no_node_message,
    why_not_eligible,
)

NAME = "default-scheduler"
DEVICES = ("resource.k8s.io", "resourceclaims")
VOLUMES = (("", "persistentvolumes"), ("", "persistentvolumeclaims"), ("storage.k8s.io", "storageclasses"))
NO_CLAIMS = "no new claims to deallocate"
"""What the plug-in of device claims says after each failure."""


class Scheduler(Controller):
    """Bind pods that ask for the default scheduler. A key is (namespace, name) of a pod.

    Pods are taken one by one, those of higher priorities first; a pod without a place waits until something changes
    that one of the filters which refused it looks at.
    """

    user = User("system:kube-scheduler", groups=("system:authenticated",))

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.client = Client(self.write, self.registry, "kube-scheduler")
        self.cluster = Cluster()
        self._attempts = Attempts(self.cluster)
        self._recorder = runtime.recorder(NAME, self.user)
        self._unschedulable: dict[tuple[str, str], frozenset[str]] = {}
        """The pods without a place, and the filters that refused them."""

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it needs are served."""
        return all_served(catalog, ("", "pods"), ("", "nodes"), ("", "namespaces"))

    def watches(self) -> list[ValueWatch[Any]]:
        watches: list[ValueWatch[Any]] = [
            self.watch("", "namespaces", Namespace, self._on_namespace),
            self.watch("", "nodes", Node, self._on_node),
            self.watch("", "pods", Pod, self._on_pod),
        ]
        if all_served(self.registry.catalog, *VOLUMES):
            watches += [
                self.watch("storage.k8s.io", "storageclasses", StorageClass, self._on_storage),
                self.watch("", "persistentvolumes", PersistentVolume, self._on_storage),
                self.watch("", "persistentvolumeclaims", PersistentVolumeClaim, self._on_storage),
            ]
        if all_served(self.registry.catalog, DEVICES):
            watches.append(self.watch(*DEVICES, ResourceClaim, self._on_devices))
        if self.registry.catalog.find("policy", "v1", "poddisruptionbudgets") is not None:
            watches.append(self.watch("policy", "poddisruptionbudgets", PodDisruptionBudget, None))
        return watches

    def start(self) -> None:
        super().start()
        if all_served(self.registry.catalog, *VOLUMES):
            self.cluster.claims = self.lister("", "persistentvolumeclaims", PersistentVolumeClaim)
            self.cluster.volumes = self.lister("", "persistentvolumes", PersistentVolume)
            self.cluster.classes = self.lister("storage.k8s.io", "storageclasses", StorageClass)
        if all_served(self.registry.catalog, DEVICES):
            self.cluster.devices = self.lister(*DEVICES, ResourceClaim)

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    # What changes

    def _on_namespace(self, old: Namespace | None, new: Namespace | None) -> None:
        if new is None:
            assert old is not None
            self.cluster.namespaces.pop(old.metadata.name, None)
            return
        if old is None or old.metadata.labels != new.metadata.labels:
            self.cluster.namespaces[new.metadata.name] = new.metadata.labels
            self._retry("InterPodAffinity")

    def _on_storage(self, old: Any, new: Any) -> None:
        """Try pods with claims again."""
        if new is not None:
            # Pods that wait for a claim to be made have no filter's name.
            self._retry("", "VolumeBinding", "VolumeRestrictions", "VolumeZone")

    def _on_node(self, old: Node | None, new: Node | None) -> None:
        if new is None:
            assert old is not None
            self.cluster.remove_node(old.metadata.name)
        elif old is None or _matters(old) != _matters(new):
            self.cluster.put_node(new)
            self._retry()

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        assert pod is not None
        meta, cluster = pod.metadata, self.cluster
        key = meta.namespace, meta.name
        if new is None or new.is_ended:
            self._unschedulable.pop(key, None)
            if cluster.holds(meta.uid):
                cluster.forget(meta.uid)
                self._retry()
            else:
                cluster.denominate(meta.uid)
        elif new.spec.node_name:
            self._unschedulable.pop(key, None)
            is_known = cluster.is_on(meta.uid, new.spec.node_name)
            if old is not None and is_known and not _affects_others(old, new):
                # It is the pod that was assumed there, as it is known already.
                cluster.refresh(new)
                if not old.spec.node_name:
                    self._retry("InterPodAffinity", "PodTopologySpread")
            else:
                cluster.put_pod(new)
                self._retry("InterPodAffinity", "PodTopologySpread")
        elif self._is_mine(new):
            # A status that the scheduler itself has written is no reason to look again.
            if (
                old is None
                or not self._is_mine(old)
                or old.metadata.generation != new.metadata.generation
                or (old.metadata.labels != new.metadata.labels)
            ):
                self._unschedulable.pop(key, None)
                self.put(*key, priority=new.spec.priority)

    def _is_mine(self, pod: Pod) -> bool:
        """Report whether a pod is to be bound by this scheduler."""
        spec = pod.spec
        return (
            not spec.node_name
            and spec.scheduler_name == NAME
            and not spec.scheduling_gates
            and not pod.is_deleting
            and not pod.is_ended
        )

    def _retry(self, *plugins: str) -> None:
        """Try the pods again that some filters have refused; without any, all of them (queueing hints)."""
        for key, refused in list(self._unschedulable.items()):
            if not plugins or not refused.isdisjoint(plugins):
                del self._unschedulable[key]
                pod = self.lister("", "pods", Pod).get(*key)
                self.put(*key, priority=0 if pod is None else pod.spec.priority)

    # Attempts

    async def work(self, key: tuple[str, ...]) -> bool:
        namespace, name = key
        pod = self.lister("", "pods", Pod).get(namespace, name)
        if pod is None or not self._is_mine(pod) or self.cluster.holds(pod.metadata.uid):
            return True
        info = self.cluster.infos.read(pod)
        self._check(pod)
        place = self._attempts.place(info)
        try:
            if isinstance(place, Place):
                if await self._bind_volumes(info, place):
                    await self._bind(info, place.node)
            else:
                await self._fail(info, place)
        except ApiError as e:
            if e.code not in (404, 409):
                raise
            # Its next event comes, if there is still such a pod.
        return True

    def _check(self, pod: Pod) -> None:
        """Raise LeftAlone for a pod that is left alone."""
        if pod.metadata.annotations.get(LEAVE_ALONE) == "true":
            raise LeftAlone
        self.client.check(None, pod.metadata.namespace)

    def _on_devices(self, _: ResourceClaim | None, new: ResourceClaim | None) -> None:
        """Try pods with claims of devices again."""
        if new is not None:
            self._retry("DynamicResources")

    async def _bind_volumes(self, info: PodInfo, place: Place) -> bool:
        """Have the claims of a pod bound that have waited for its node; return whether they are (`PreBind`).

        Volumes are bound by their controller. The event of the last claim lets the pod be tried again, whose claims
        select the node then.
        """
        if not place.volumes:
            return True
        meta = info.pod.metadata
        self._unschedulable[meta.namespace, meta.name] = frozenset(("VolumeBinding",))
        for claim, volume in place.volumes:
            if volume is not None:
                if (change := bind_to_claim(volume, claim)) is not None:
                    volumes = self.resource("", "persistentvolumes")
                    version = volume.metadata.resource_version
                    await self.client.update(volumes, "", volume.metadata.name, change, version=version)
            elif claim.metadata.annotations.get(SELECTED_NODE) != place.node:
                patch = {"metadata": {"annotations": {SELECTED_NODE: place.node}}}
                claims = self.resource("", "persistentvolumeclaims")
                await self.client.patch(claims, meta.namespace, claim.metadata.name, patch)
        return False

    async def _bind(self, info: PodInfo, node: str) -> None:
        """Assign a pod to a node."""
        meta = info.pod.metadata
        self.cluster.assume(info, node)

        def change(old: Stored) -> Draft:
            if old.uid != meta.uid:
                raise errors.conflict("", "pods/binding", meta.name, "another pod has its name")
            draft = old.thaw()
            assign(draft, meta.name, node, self.registry.clock.text())
            return draft

        write = Write(subresource="binding", patch=True, validates=False, user=self.user)
        pods = self.resource("", "pods")
        try:
            if self.registry.update_at_once(pods, meta.namespace, meta.name, change, write) is None:
                await self.registry.update(pods, meta.namespace, meta.name, change, write)
        except BaseException:
            self.cluster.forget(meta.uid)
            raise
        text = f"Successfully assigned {meta.namespace}/{meta.name} to {node}"
        self._recorder.record(meta.reference("v1", "Pod"), NORMAL, "Scheduled", text)

    async def _fail(self, info: PodInfo, failure: Failure) -> None:
        """Say why a pod has no place, and make one if others may go for it."""
        pod, count = info.pod, len(self.cluster.nodes)
        meta = pod.metadata
        # Before the first wait: what changes from here on is a reason to try again.
        self._unschedulable[meta.namespace, meta.name] = failure.plugins
        nominated = pod.status.nominated_node_name
        candidate = None
        if not count:
            message = "no nodes available to schedule pods"
        elif failure.filters is None:
            message = f"{no_node_message(count, ())} {failure.message}. not found"
            nominated = ""
        else:
            reasons = [reason for refusal in failure.refusals.values() for reason in refusal.reasons]
            message = no_node_message(count, reasons)
            found = self._preempt(info, failure)
            if isinstance(found, Candidate):
                candidate, nominated = found, found.node
            else:
                said, keeps = found
                message += f" {NO_CLAIMS}, preemption: {said}"
                nominated = nominated if keeps else ""
        if candidate is not None:
            self.cluster.nominate(info, candidate.node)
            await self._evict(pod, candidate)
        self._recorder.record(meta.reference("v1", "Pod"), WARNING, "FailedScheduling", message)
        await self._write_condition(pod, message, nominated)

    def _preempt(self, info: PodInfo, failure: Failure) -> Candidate | tuple[str, bool]:
        """Return the node whose pods go, or why there is none, and whether an earlier nomination stays."""
        assert failure.filters is not None
        cluster = self.cluster
        if why := why_not_eligible(info.pod, cluster, failure.refusals):
            return why, True
        nodes = [cluster.nodes[name] for name, refusal in failure.refusals.items() if not refusal.is_final]
        candidate, refusals = find_candidate(failure.filters, nodes, self._budgets())
        if candidate is not None:
            return candidate
        reasons = [reason for refusal in refusals.values() for reason in refusal.reasons]
        reasons += [HELPLESS] * (len(cluster.nodes) - len(refusals))
        return no_node_message(len(cluster.nodes), reasons), False

    def _budgets(self) -> list[PodDisruptionBudget]:
        resource = self.registry.catalog.find("policy", "v1", "poddisruptionbudgets")
        return [] if resource is None else [*self.informer(resource).lister(PodDisruptionBudget)]

    async def _evict(self, preemptor: Pod, candidate: Candidate) -> None:
        """Delete victims (`preemption.Executor.PreemptPod`)."""
        pods = self.resource("", "pods")
        meta = preemptor.metadata
        # Those of lower priority that wait for the same room have to look for another one.
        for other in list(self.cluster.nominated.get(candidate.node, {}).values()):
            if other.pod.spec.priority < preemptor.spec.priority:
                self.cluster.denominate(other.pod.metadata.uid)
                self.put(other.pod.metadata.namespace, other.pod.metadata.name)
        for info in candidate.victims:
            victim = info.pod
            if victim.is_deleting:
                continue
            place = victim.metadata.namespace, victim.metadata.name
            condition = {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": BY_SCHEDULER,
                "message": f"{NAME}: preempting to accommodate a higher priority pod",
                "observedGeneration": victim.metadata.generation,
                "lastProbeTime": None,
                "lastTransitionTime": self.registry.clock.text(),
            }
            try:
                await self.client.update(
                    pods,
                    *place,
                    partial(put_condition, condition),
                    subresource="status",
                )
                await self.client.delete(pods, *place, uid=victim.metadata.uid)
            except ApiError as e:
                if e.code not in (404, 409):
                    raise
                continue
            text = f"Preempted by pod {meta.uid} on node {candidate.node}"
            self._recorder.record(victim.metadata.reference("v1", "Pod"), NORMAL, "Preempted", text)

    async def _write_condition(self, pod: Pod, message: str, nominated: str) -> None:
        """Write the condition PodScheduled, unless the pod says the same already (`updatePod`)."""
        meta = pod.metadata
        old = pod.condition("PodScheduled")
        wanted = "False", "Unschedulable", message, meta.generation
        present = None if old is None else (old.status, old.reason, old.message, old.observed_generation)
        if present == wanted and pod.status.nominated_node_name == nominated:
            return
        is_new = old is None or old.status != "False"
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "observedGeneration": meta.generation,
            "lastProbeTime": None,
            "lastTransitionTime": self.registry.clock.text() if is_new or old is None else old.last_transition_time,
        }

        def change(draft: Draft) -> None:
            put_condition(condition, draft)
            draft.set(["status", "nominatedNodeName"], orjson.dumps(nominated) if nominated else None)

        await self.client.update(self.resource("", "pods"), meta.namespace, meta.name, change, subresource="status")


def _matters(node: Node) -> tuple[Any, ...]:
    """Return what the scheduler knows of a node (`nodeSchedulingPropertiesChange`)."""
    return node.metadata.labels, node.metadata.annotations, node.spec, node.status.allocatable


def _affects_others(old: Pod, new: Pod) -> bool:
    """Report whether a change of a bound pod counts for others."""
    return (
        old.metadata.labels != new.metadata.labels
        or old.metadata.uid != new.metadata.uid
        or old.is_deleting != new.is_deleting
        or old.spec.containers != new.spec.containers
    )
