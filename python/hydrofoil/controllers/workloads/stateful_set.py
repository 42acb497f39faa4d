"""Stateful sets: pods with numbers, one after another (`pkg/controller/statefulset`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.adoption import ControllerRefManager, deletion_check, orphan_keys, orphans
from hydrofoil.controllers.objects.meta import OwnerReference
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import OF_STATEFUL_SET, UNMANAGED, Pod, controller_of
from hydrofoil.controllers.objects.revisions import ControllerRevision
from hydrofoil.controllers.objects.stateful_sets import StatefulSet, StatefulSetStatus
from hydrofoil.controllers.objects.volumes import PersistentVolumeClaim
from hydrofoil.controllers.pod_control import PodControl
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.workloads.history import History
from hydrofoil.controllers.workloads.stateful_control import StatefulPodControl
from hydrofoil.controllers.workloads.stateful_pods import API_VERSION, KIND, Member, member_of, parse_name
from hydrofoil.controllers.workloads.stateful_update import StatefulUpdate
from hydrofoil.controllers.workloads.workload import WorkloadController

GROUP, PLURAL = "apps", "statefulsets"
HASH = "controller.kubernetes.io/hash"
"""The label of revisions with their hash."""


def namespace_of(found: StatefulSet) -> tuple[str, ...]:
    """Return the namespace of a set, for an index."""
    return (found.metadata.namespace,)


def status_value(status: StatefulSetStatus) -> dict[str, Any]:
    """Return a status as it is written."""
    return {
        "observedGeneration": status.observed_generation,
        "replicas": status.replicas,
        "readyReplicas": status.ready_replicas,
        "currentReplicas": status.current_replicas,
        "updatedReplicas": status.updated_replicas,
        "currentRevision": status.current_revision,
        "updateRevision": status.update_revision,
        "collisionCount": status.collision_count,
        "availableReplicas": status.available_replicas,
    }


class StatefulSetController(WorkloadController):
    """Keep the pods of stateful sets."""

    name = "statefulset"
    user = service_account("statefulset-controller")
    width = 5

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder("statefulset-controller", self.user)
        self._members: dict[str, dict[str, Member]] = {}
        """The pods of each set in the last look at it, by the uids of both."""
        self._pod_control = PodControl(self.client, self._recorder, self.resource("", "pods"))

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        needed = (("", "pods"), ("", "persistentvolumeclaims"), (GROUP, "controllerrevisions"), (GROUP, PLURAL))
        return all_served(catalog, *needed)

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            self.watch(GROUP, PLURAL, StatefulSet, self._on_set),
            self.watch("", "pods", Pod, self._on_pod, OF_STATEFUL_SET | UNMANAGED),
            self.watch("", "persistentvolumeclaims", PersistentVolumeClaim, self._on_claim),
            # These are only read: what happens to them alone changes nothing.
            self.watch(GROUP, "controllerrevisions", ControllerRevision, lambda *_: None),
        ]

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    # ---- events

    def _on_set(self, old: StatefulSet | None, new: StatefulSet | None) -> None:
        meta = (new or old).metadata  # type: ignore[union-attr] # one of them is an object
        if new is None:
            self._members.pop(meta.uid, None)
        self.put(meta.namespace, meta.name)

    def _resolve(self, namespace: str, owner: OwnerReference | None) -> StatefulSet | None:
        """Return the set that an owner reference names, if it is that one still."""
        if owner is None or owner.kind != KIND:
            return None
        found = self.lister(GROUP, PLURAL, StatefulSet).get(namespace, owner.name)
        return found if found is not None and found.metadata.uid == owner.uid else None

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        before = None if old is None else old.metadata.controller
        after = None if new is None else new.metadata.controller
        if after is not None and after.kind != KIND and before == after:
            # Most pods are none of a stateful set.
            return
        if old is not None and before != after and self._resolve(old.metadata.namespace, before) is not None:
            assert before is not None
            self.put(old.metadata.namespace, before.name)
        if new is None:
            return
        if after is None:
            if not new.is_deleting and (old is None or before or old.metadata.labels != new.metadata.labels):
                self._offer(new)
            return
        found = self._resolve(new.metadata.namespace, after)
        if found is None:
            return
        key = (found.metadata.namespace, found.metadata.name)
        self.put(*key)
        if found.spec.min_ready_seconds and old is not None and new.is_ready and not old.is_ready:
            self.queue.after(key, found.spec.min_ready_seconds)

    def _on_claim(self, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None) -> None:
        """Queue the set of a pod that waits for the end of a former pod's claim; upstream waits for another event."""
        if old is not None and new is None:
            for owner in old.metadata.owner_references:
                if owner.kind == "Pod" and (name := parse_name(owner.name)[0]):
                    self.put(old.metadata.namespace, name)

    def _offer(self, pod: Pod) -> None:
        """Tell all sets that might adopt a pod."""
        meta = pod.metadata
        for found in self.lister(GROUP, PLURAL, StatefulSet).index(namespace_of).get(meta.namespace):
            if found.spec.selector.matches(meta.labels):
                self.put(meta.namespace, found.metadata.name)

    # ---- work

    async def sync(self, namespace: str, name: str) -> bool:
        """Take the next step of a set, and write its status."""
        found = self.lister(GROUP, PLURAL, StatefulSet).get(namespace, name)
        if found is None:
            return True
        self.check(found.metadata)
        owner = Owner(found.metadata, API_VERSION, KIND)
        history = self._history()
        await self._adopt_revisions(owner, found, history)
        members = await self._claim(owner, found)
        revisions = history.find(owner, found.spec.selector)
        current, update, collisions = await self._revisions(owner, found, history, revisions)
        look = StatefulUpdate(self._control(found), found, members, current, update, self.registry.clock.seconds())
        await look.run()
        status = look.complete(collisions)
        await self._write_status(found, status)
        await self._truncate(found, history, revisions, members, (current.metadata.name, update.metadata.name))
        if look.failure is not None:
            raise look.failure
        self._await_availability(found, members, status)
        return True

    def _history(self) -> History:
        resource = self.resource(GROUP, "controllerrevisions")
        lister = self.lister(GROUP, "controllerrevisions", ControllerRevision)
        return History(self.client, self.registry, resource, lister)

    def _control(self, found: StatefulSet) -> StatefulPodControl:
        pods, claims = self.resource("", "pods"), self.resource("", "persistentvolumeclaims")
        present = self.lister("", "persistentvolumeclaims", PersistentVolumeClaim)
        return StatefulPodControl(found, self.client, self._recorder, pods, claims, present)

    async def _adopt_revisions(self, owner: Owner, found: StatefulSet, history: History) -> None:
        free = [one for one in history.find(owner, found.spec.selector) if one.metadata.controller is None]
        if free:
            deletion_check(self.registry, self.resource(GROUP, PLURAL), owner)()
            for revision in free:
                await history.adopt(owner, revision)
            self.catch_up()

    async def _claim(self, owner: Owner, found: StatefulSet) -> list[Member]:
        """Return the pods of a set, after it has adopted and released some."""
        pods, meta = self.lister("", "pods", Pod), found.metadata
        known, members = self._members.get(meta.uid, {}), {}
        candidates: list[Pod] = []
        for pod in pods.index(controller_of).get(meta.uid):
            # A selector never changes: a pod that has not changed is as it was in the last look.
            member = known.get(pod.metadata.uid)
            if member is not None and member.pod is pod:
                members[pod.metadata.uid] = member
            else:
                candidates.append(pod)
        candidates += orphans(pods.index(orphan_keys), meta.namespace, found.spec.selector)
        if candidates:
            check = deletion_check(self.registry, self.resource(GROUP, PLURAL), owner)
            patch = self._pod_control.patch
            manager: ControllerRefManager[Pod] = ControllerRefManager(owner, found.spec.selector, patch, check)
            claimed = await manager.claim(candidates, lambda pod: parse_name(pod.metadata.name)[0] == meta.name)
            members |= {pod.metadata.uid: member_of(pod) for pod in claimed}
        self._members[meta.uid] = members
        return list(members.values())

    async def _revisions(
        self, owner: Owner, found: StatefulSet, history: History, revisions: list[ControllerRevision]
    ) -> tuple[ControllerRevision, ControllerRevision, int]:
        """Return the current revision, that of the template, and the collisions (`getStatefulSetRevisions`)."""
        collisions = found.status.collision_count or 0
        template, latest = found.spec.template, revisions[-1] if revisions else None
        if latest is not None and latest.restores(template):
            update = latest
        else:
            number = 1 if latest is None else latest.revision + 1
            equal = next((one for one in reversed(revisions) if one.restores(template)), None)
            made = None if equal is None else await history.renumber(equal, number)
            while made is None:
                made = await history.create(owner, template, number, collisions, HASH)
                collisions += made is None
            update = made
        present = next((one for one in revisions if one.metadata.name == found.status.current_revision), update)
        return present, update, collisions

    async def _write_status(self, found: StatefulSet, status: StatefulSetStatus) -> None:
        """Write the status if it has changed (`inconsistentStatus`)."""
        meta, present = found.metadata, found.status
        if structs.replace(status, collision_count=present.collision_count) == present:
            return
        resource = self.resource(GROUP, PLURAL)
        value = status_value(status)
        await self.client.update_status(resource, meta.namespace, meta.name, value, version=meta.resource_version)

    async def _truncate(
        self,
        found: StatefulSet,
        history: History,
        revisions: list[ControllerRevision],
        members: list[Member],
        names: tuple[str, str],
    ) -> None:
        """Delete the oldest revisions that no pod has, beyond those of the history (`truncateHistory`)."""
        limit = found.spec.revision_history_limit
        if len(revisions) <= limit:
            return
        live = {*names, *(member.revision for member in members)}
        unused = [one for one in revisions if one.metadata.name not in live]
        for revision in unused[: max(len(unused) - limit, 0)]:
            await history.delete(revision)

    def _await_availability(self, found: StatefulSet, members: list[Member], status: StatefulSetStatus) -> None:
        """Look at a set again when the next pod has been ready for long enough."""
        least = found.spec.min_ready_seconds
        if not least or status.ready_replicas == status.available_replicas:
            return
        now, left = self.registry.clock.seconds(), float(least)
        for member in members:
            if member.is_ready and member.ready_since is not None:
                remaining = member.ready_since + least - now
                if 0 < remaining < left:
                    left = remaining
        self.queue.after((found.metadata.namespace, found.metadata.name), left)
