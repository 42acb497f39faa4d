"""Deployments: replica sets of the present template and of former ones (`pkg/controller/deployment`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import structs

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.adoption import ControllerRefManager, deletion_check, orphan_keys, orphans
from hydrofoil.controllers.objects.deployments import PROGRESSING, RECREATE, Deployment, DeploymentStatus
from hydrofoil.controllers.objects.meta import OwnerReference
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import EXISTENCE, Pod, controller_of
from hydrofoil.controllers.objects.replica_sets import REPLICA_FAILURE, ReplicaSet, owner_of
from hydrofoil.controllers.objects.times import parse_time
from hydrofoil.controllers.pod_control import is_namespace_terminating
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.workloads.deployment_status import (
    PAUSED,
    RESUMED,
    TIMED_OUT,
    calculate_status,
    estimate_progress,
    is_complete,
    remove_condition,
    replica_failure,
    set_condition,
)
from hydrofoil.controllers.workloads.proportional import is_scaling, scale
from hydrofoil.controllers.workloads.rollback import revision_to_restore, roll_back
from hydrofoil.controllers.workloads.rolling_update import empty_old, grow_new, old_pods_run, shrink_old
from hydrofoil.controllers.workloads.rollout import DeploymentTools, Rollout, by_creation
from hydrofoil.controllers.workloads.set_annotations import revision
from hydrofoil.controllers.workloads.workload import WorkloadController
from hydrofoil.engine import Stored
from hydrofoil.errors import ApiError

TRIES = 15
"""How often a deployment is tried before its next event is awaited (`maxRetries`)."""
AFTER = 0.001
"""The seconds after a deadline when it has passed."""
API_VERSION, KIND, GROUP = "apps/v1", "Deployment", "apps"


def by_revision(found: ReplicaSet) -> tuple[int, str, str]:
    """Return what orders sets by their revisions (`ReplicaSetsByRevision`)."""
    return (revision(found) or 0, *by_creation(found))


def namespace_of(found: Deployment) -> tuple[str, ...]:
    """Return the namespace of a deployment, for an index."""
    return (found.metadata.namespace,)


class DeploymentController(WorkloadController):
    """Scale the replica sets of deployments, from one template to the next."""

    name = "deployment"
    user = service_account("deployment-controller")
    width = 5

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder("deployment-controller", self.user)

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all_served(catalog, ("", "pods"), (GROUP, "replicasets"), (GROUP, "deployments"))

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            self.watch(GROUP, "deployments", Deployment, self._on_deployment),
            self.watch(GROUP, "replicasets", ReplicaSet, self._on_set),
            self.watch("", "pods", Pod, self._on_pod, EXISTENCE),
        ]

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    # ---- events

    def _on_deployment(self, old: Deployment | None, new: Deployment | None) -> None:
        meta = (new or old).metadata  # type: ignore[union-attr] # one of them is an object
        self.put(meta.namespace, meta.name)

    def _notify(self, namespace: str, owner: OwnerReference | None) -> None:
        """Queue the deployment that an owner reference names, if it is that one still."""
        if owner is None or owner.kind != KIND:
            return
        found = self.lister(GROUP, "deployments", Deployment).get(namespace, owner.name)
        if found is not None and found.metadata.uid == owner.uid:
            self.put(namespace, owner.name)

    def _on_set(self, old: ReplicaSet | None, new: ReplicaSet | None) -> None:
        before = None if old is None else old.metadata.controller
        after = None if new is None else new.metadata.controller
        if old is not None and before != after:
            self._notify(old.metadata.namespace, before)
        if new is None:
            return
        if after is not None:
            self._notify(new.metadata.namespace, after)
        elif old is None or before is not None or old.metadata.labels != new.metadata.labels:
            self._offer(new)

    def _offer(self, found: ReplicaSet) -> None:
        """Queue all deployments that might adopt a set."""
        meta = found.metadata
        if meta.is_deleting or not meta.labels:
            return
        for one in self.lister(GROUP, "deployments", Deployment).index(namespace_of).get(meta.namespace):
            selector = one.spec.selector
            if not selector.is_empty and selector.matches(meta.labels):
                self.put(meta.namespace, one.metadata.name)

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        """Queue a deployment that waits for the end of the last pod of its old sets."""
        if old is None or new is not None:
            return
        owner, namespace = old.metadata.controller, old.metadata.namespace
        if owner is None or owner.kind != "ReplicaSet":
            return
        found = self.lister(GROUP, "replicasets", ReplicaSet).get(namespace, owner.name)
        if found is None or found.metadata.uid != owner.uid or (above := found.metadata.controller) is None:
            return
        deployment = self.lister(GROUP, "deployments", Deployment).get(namespace, above.name)
        if deployment is None or deployment.spec.strategy.type != RECREATE:
            return
        by_owner, sets = self.lister("", "pods", Pod).index(controller_of), self._sets_of(above.uid)
        if not any(by_owner.count(one.metadata.uid) for one in sets):
            self._notify(namespace, above)

    # ---- work

    def _sets_of(self, uid: str) -> list[ReplicaSet]:
        return self.lister(GROUP, "replicasets", ReplicaSet).index(owner_of).get(uid)

    async def sync(self, namespace: str, name: str) -> bool:
        """Scale the sets of a deployment, and write its status (`syncDeployment`)."""
        try:
            await self._sync(namespace, name)
        except ApiError as e:
            if not is_namespace_terminating(e) and self.queue.failures((namespace, name)) < TRIES:
                raise
        return True

    async def _sync(self, namespace: str, name: str) -> None:
        found = self.lister(GROUP, "deployments", Deployment).get(namespace, name)
        if found is None:
            return
        self.check(found.metadata)
        tools = DeploymentTools(
            self.client,
            self._recorder,
            self.registry.clock,
            self.resource(GROUP, "deployments"),
            self.resource(GROUP, "replicasets"),
            self.lister(GROUP, "replicasets", ReplicaSet),
        )
        if found.spec.selector.is_empty:
            await self._refuse(Rollout(tools, found, ()))
            return
        await self._roll_out(Rollout(tools, found, await self._claim(found)))

    async def _refuse(self, rollout: Rollout) -> None:
        """Leave a deployment alone that selects all pods."""
        message = "This deployment is selecting all pods. A non-empty selector is required."
        rollout.record(WARNING, "SelectingAll", message)
        status, generation = rollout.deployment.status, rollout.deployment.metadata.generation
        if status.observed_generation < generation:
            await rollout.write_status(structs.replace(status, observed_generation=generation))

    async def _claim(self, found: Deployment) -> list[ReplicaSet]:
        """Return the sets of a deployment, after it has adopted and released some (`getReplicaSetsForDeployment`)."""
        owner = Owner(found.metadata, API_VERSION, KIND)
        lister, resource = self.lister(GROUP, "replicasets", ReplicaSet), self.resource(GROUP, "replicasets")
        free = orphans(lister.index(orphan_keys), found.metadata.namespace, found.spec.selector)

        async def patch(namespace: str, name: str, patch: dict[str, Any]) -> Stored:
            return await self.client.patch(resource, namespace, name, patch)

        check = deletion_check(self.registry, self.resource(GROUP, "deployments"), owner)
        manager: ControllerRefManager[ReplicaSet] = ControllerRefManager(owner, found.spec.selector, patch, check)
        return await manager.claim([*self._sets_of(found.metadata.uid), *free])

    async def _roll_out(self, rollout: Rollout) -> None:
        """Take the next step of a deployment."""
        deployment = rollout.deployment
        if deployment.metadata.is_deleting:
            await rollout.find_new()
            return await self._write_status(rollout)
        await self._check_pause(rollout)
        if deployment.spec.paused:
            return await self._scale(rollout)
        wanted = revision_to_restore(deployment.metadata.annotations)
        if wanted is not None:
            return await roll_back(rollout, wanted)
        await rollout.find_new()
        if is_scaling(rollout):
            return await self._scale(rollout)
        if deployment.is_rolling:
            return await self._roll(rollout)
        return await self._recreate(rollout)

    async def _check_pause(self, rollout: Rollout) -> None:
        """Say that a deployment is paused or goes on: the time between is none of its deadline
        (`checkPausedConditions`)."""
        deployment = rollout.deployment
        progress = deployment.status.condition(PROGRESSING)
        reason = None if progress is None else progress.reason
        if not deployment.has_deadline or reason == TIMED_OUT:
            return
        if deployment.spec.paused and reason != PAUSED:
            await rollout.write_status(rollout.set_progress("Unknown", PAUSED, "Deployment is paused"))
        elif not deployment.spec.paused and reason == PAUSED:
            await rollout.write_status(rollout.set_progress("Unknown", RESUMED, "Deployment is resumed"))

    async def _scale(self, rollout: Rollout) -> None:
        """Scale without a rollout: the number has changed, or the deployment is paused (`sync`)."""
        await rollout.find_new()
        await scale(rollout)
        deployment = rollout.deployment
        if deployment.spec.paused and revision_to_restore(deployment.metadata.annotations) is None:
            await self._clean_up(rollout)
        await self._write_status(rollout)

    async def _roll(self, rollout: Rollout) -> None:
        """Scale the new set up, or the old ones down (`rolloutRolling`)."""
        await rollout.find_new(creates=True)
        if not await grow_new(rollout) and not await shrink_old(rollout):
            await self._end(rollout)
        await self._write_progress(rollout)

    async def _recreate(self, rollout: Rollout) -> None:
        """Scale the old sets to zero, and the new one up when their pods have ended (`rolloutRecreate`)."""
        by_owner = self.lister("", "pods", Pod).index(controller_of)
        if await empty_old(rollout) or old_pods_run(rollout, lambda found: by_owner.get(found.metadata.uid)):
            return await self._write_progress(rollout)
        if rollout.new is None:
            await rollout.find_new(creates=True)
        assert rollout.new is not None
        await rollout.scale(rollout.new, rollout.deployment.spec.replicas)
        await self._end(rollout)
        return await self._write_progress(rollout)

    async def _end(self, rollout: Rollout) -> None:
        if is_complete(rollout.deployment, rollout.deployment.status):
            await self._clean_up(rollout)

    async def _clean_up(self, rollout: Rollout) -> None:
        """Delete the oldest sets without pods, beyond those of the history (`cleanupDeployment`)."""
        limit = rollout.deployment.history_limit
        if limit is None:
            return
        cleanable = sorted((one for one in rollout.old if not one.metadata.is_deleting), key=by_revision)
        resource = self.resource(GROUP, "replicasets")
        for found in cleanable[: max(len(cleanable) - limit, 0)]:
            meta, status = found.metadata, found.status
            if status.replicas or found.spec.replicas or meta.generation > status.observed_generation:
                continue
            try:
                await self.client.delete(resource, meta.namespace, meta.name)
            except ApiError as e:
                if e.code != 404:
                    raise

    # ---- status

    async def _write_status(self, rollout: Rollout) -> None:
        """Write the status if it has changed (`syncDeploymentStatus`)."""
        status = self._calculate(rollout)
        if status != rollout.deployment.status:
            await rollout.write_status(status)

    def _calculate(self, rollout: Rollout) -> DeploymentStatus:
        return calculate_status(rollout.deployment, rollout.all, rollout.new, rollout.moment)

    async def _write_progress(self, rollout: Rollout) -> None:
        """Write the status with the progress of a rollout if it has changed (`syncRolloutStatus`)."""
        deployment, status = rollout.deployment, self._calculate(rollout)
        now = self.registry.clock.seconds()
        if deployment.has_deadline:
            status = estimate_progress(deployment, status, rollout.new, now, rollout.moment)
        else:
            status = remove_condition(status, PROGRESSING)
        failure = replica_failure(rollout.all, rollout.new)
        status = remove_condition(status, REPLICA_FAILURE) if failure is None else set_condition(status, failure)
        if status != deployment.status:
            await rollout.write_status(status)
        else:
            self._await_deadline(deployment, status, now)

    def _await_deadline(self, deployment: Deployment, status: DeploymentStatus, now: float) -> None:
        """Look at a rollout again when its deadline has passed (`requeueStuckDeployment`)."""
        progress, deadline = deployment.status.condition(PROGRESSING), deployment.spec.progress_deadline_seconds
        if not deployment.has_deadline or deadline is None or progress is None:
            return
        if is_complete(deployment, status) or progress.reason == TIMED_OUT:
            return
        left = parse_time(progress.last_update_time or "") + deadline - now
        self.queue.after((deployment.metadata.namespace, deployment.metadata.name), max(left, 0) + AFTER)
