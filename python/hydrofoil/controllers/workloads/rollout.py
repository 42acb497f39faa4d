"""One look at a deployment and its replica sets (`pkg/controller/deployment/sync.go`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import orjson
from msgspec import structs

from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import Clock
from hydrofoil.controllers.objects.deployments import PROGRESSING, Deployment, DeploymentStatus
from hydrofoil.controllers.objects.hashes import safe_hash
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.replica_sets import ReplicaSet
from hydrofoil.controllers.objects.templates import POD_TEMPLATE_HASH, equal_ignoring_hash
from hydrofoil.controllers.pod_control import is_namespace_terminating
from hydrofoil.controllers.runtime.client import Client
from hydrofoil.controllers.runtime.lister import Lister
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING, EventRecorder
from hydrofoil.controllers.workloads.deployment_status import (
    CREATE_ERROR,
    FOUND,
    NEW,
    new_condition,
    present_replicas_of,
    set_condition,
    status_value,
)
from hydrofoil.controllers.workloads.set_annotations import (
    REVISION,
    current_annotations,
    max_revision,
    size_annotations,
)
from hydrofoil.engine import Draft
from hydrofoil.errors import ApiError

LONGEST_NAME = 253
SCALED = "ScalingReplicaSet"
"""The reason of Events about sizes."""


def by_creation(found: ReplicaSet) -> tuple[str, str]:
    """Return what orders sets by their age, the oldest first (`ReplicaSetsByCreationTimestamp`)."""
    return found.metadata.creation_timestamp, found.metadata.name


def active(sets: Iterable[ReplicaSet]) -> list[ReplicaSet]:
    """Return the sets that are to have pods (`FilterActiveReplicaSets`)."""
    return [found for found in sets if found.spec.replicas > 0]


class DeploymentTools(NamedTuple):
    """What the controller of deployments works with."""

    client: Client
    recorder: EventRecorder
    clock: Clock
    deployments: Resource
    replica_sets: Resource
    sets: Lister[ReplicaSet]


class Rollout:
    """A deployment, its replica sets, and their writes.

    The sets stay as they were found: a status is that before the present look scaled them, and their next events bring
    another look.
    """

    def __init__(self, tools: DeploymentTools, deployment: Deployment, sets: Iterable[ReplicaSet]) -> None:
        self.tools = tools
        self.deployment = deployment
        """The deployment with what was written to its status so far."""
        self._version = deployment.metadata.resource_version
        self.annotations = deployment.metadata.annotations
        """Its annotations, with what is not written yet."""
        self.new: ReplicaSet | None = None
        """The set of the present template."""
        self.old: list[ReplicaSet] = []
        """The others, the oldest first."""
        self._split(sets)

    def _split(self, sets: Iterable[ReplicaSet]) -> None:
        """Tell the set of the present template from the others (`FindNewReplicaSet`, `FindOldReplicaSets`)."""
        template = self.deployment.spec.template
        for found in sorted(sets, key=by_creation):
            # Of several, the oldest one counts: after an upgrade, defaults may have made two alike.
            if self.new is None and equal_ignoring_hash(found.spec.template, template):
                self.new = found
            else:
                self.old.append(found)

    @property
    def all(self) -> list[ReplicaSet]:
        """Return all sets, the new one last."""
        return self.old if self.new is None else [*self.old, self.new]

    @property
    def owner(self) -> Owner:
        """Return the deployment as an owner."""
        return Owner(self.deployment.metadata, "apps/v1", "Deployment")

    @property
    def moment(self) -> str:
        """Return the present time as objects have it."""
        return self.tools.clock.text()

    def record(self, kind: str, reason: str, message: str) -> None:
        """Record an Event about the deployment."""
        self.tools.recorder.record(self.owner.about, kind, reason, message)

    async def write_status(self, status: DeploymentStatus) -> None:
        """Write a status, and with it the annotations: this subresource has them (`UpdateStatus`)."""
        meta = self.deployment.metadata
        # In this look as well, also where the write is refused: it ends then, or what follows does not depend on it.
        self.deployment = structs.replace(self.deployment, status=status)

        def change(draft: Draft) -> None:
            draft.set(["status"], orjson.dumps(status_value(status)))
            if self.annotations != meta.annotations:
                draft.set(["metadata", "annotations"], orjson.dumps(self.annotations))

        await self.update(change, subresource="status")

    async def update(self, change: Callable[[Draft], None], *, subresource: str = "") -> None:
        """Write the deployment after a change. Raise ApiError 409 if another write came before."""
        meta = self.deployment.metadata
        stored = await self.tools.client.update(
            self.tools.deployments, meta.namespace, meta.name, change, version=self._version, subresource=subresource
        )
        self._version = str(stored.revision)

    def set_progress(self, status: str, reason: str, message: str) -> DeploymentStatus:
        """Return the status with another condition Progressing."""
        condition = new_condition(PROGRESSING, status, reason, message, self.moment)
        return set_condition(self.deployment.status, condition)

    def _set_revision(self, revision: str) -> bool:
        """Take over the revision of the new set; report whether it is another one."""
        if self.annotations.get(REVISION) == revision:
            return False
        self.annotations = {**self.annotations, REVISION: revision}
        return True

    async def find_new(self, *, creates: bool = False) -> None:
        """Bring the new set's annotations up to date, or create it (`getAllReplicaSetsAndSyncRevision`)."""
        if self.new is not None:
            self.new = await self._sync_new(self.new)
        elif creates:
            self.new = await self._create()

    async def _sync_new(self, new: ReplicaSet) -> ReplicaSet:
        spec, status = self.deployment.spec, self.deployment.status
        annotations = current_annotations(
            self.deployment.metadata.annotations, new.metadata.annotations, max_revision(self.old) + 1
        )
        if annotations != new.metadata.annotations or new.spec.min_ready_seconds != spec.min_ready_seconds:
            return await self._update(new, new.spec.replicas, annotations)
        needs_update = self._set_revision(annotations.get(REVISION, ""))
        if self.deployment.has_deadline and status.condition(PROGRESSING) is None:
            status = self.set_progress("True", FOUND, f'Found new replica set "{new.metadata.name}"')
            needs_update = True
        if needs_update:
            await self.write_status(status)
        return new

    async def _update(self, found: ReplicaSet, size: int, annotations: dict[str, str]) -> ReplicaSet:
        """Write size and annotations of a set, and return it."""
        meta = found.metadata
        is_new = found is self.new

        def change(draft: Draft) -> None:
            draft.set(["spec", "replicas"], orjson.dumps(size))
            if is_new:
                draft.set(["spec", "minReadySeconds"], orjson.dumps(self.deployment.spec.min_ready_seconds))
            draft.set(["metadata", "annotations"], orjson.dumps(annotations))

        stored = await self.tools.client.update(
            self.tools.replica_sets, meta.namespace, meta.name, change, version=meta.resource_version
        )
        return self.tools.sets.value(stored)

    async def scale(self, found: ReplicaSet, size: int, *, always: bool = False) -> tuple[bool, ReplicaSet]:
        """Scale a set; return whether its size has changed, and its new value (`scaleReplicaSet`).

        With `always`, its annotations are brought up to date even if its size stays.
        """
        before, annotations = found.spec.replicas, found.metadata.annotations
        sizes = size_annotations(self.deployment)
        if before == size and not (always and sizes.items() - annotations.items()):
            return False, found
        scaled = await self._update(found, size, {**annotations, **sizes})
        if before == size:
            return False, scaled
        direction = "up" if before < size else "down"
        message = f"Scaled {direction} replica set {found.metadata.name} from {before} to {size}"
        self.record(NORMAL, SCALED, message)
        return True, scaled

    def size_of_new(self, present: int) -> int:
        """Return the size that the new set may have, which has a present one (`NewRSNewReplicas`).

        Pods that an old set is to lose, and has still, count: here a new set is faster than in upstream, where the old
        one has nearly always removed them by then, and the bound of the surge would be broken for a moment.
        """
        replicas = self.deployment.spec.replicas
        if not self.deployment.is_rolling:
            return replicas
        room = replicas + self.deployment.max_surge - present_replicas_of(self.all)
        return present if room <= 0 else present + min(room, replicas - present)

    # ---- creation

    def _new_set(self, revision: int, size: int) -> tuple[str, dict[str, Any]]:
        """Return name and value of a set of the present template."""
        deployment = self.deployment
        meta, spec = deployment.metadata, deployment.spec
        template = spec.template.value()
        text = safe_hash(template, deployment.status.collision_count)
        labels = {**spec.template.labels, POD_TEMPLATE_HASH: text}
        name = f"{meta.name[: LONGEST_NAME - 1 - len(text)]}-{text}"
        annotations = {**current_annotations(meta.annotations, {}, revision), **size_annotations(deployment)}
        expressions = [structs.asdict(term) for term in spec.selector.match_expressions]
        selector: dict[str, Any] = {"matchLabels": {**spec.selector.match_labels, POD_TEMPLATE_HASH: text}}
        if expressions:
            selector["matchExpressions"] = expressions
        return name, {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": name,
                "namespace": meta.namespace,
                "labels": labels,
                "annotations": annotations,
                "ownerReferences": [self.owner.reference],
            },
            "spec": {
                "replicas": size,
                "minReadySeconds": spec.min_ready_seconds,
                "selector": selector,
                "template": {**template, "metadata": {**spec.template.metadata, "labels": labels}},
            },
        }

    async def _create(self) -> ReplicaSet:
        """Create the set of the present template. Its name is that of its hash, so that it is created once."""
        revision, size = max_revision(self.old) + 1, self.size_of_new(0)
        name, body = self._new_set(revision, size)
        namespace = self.deployment.metadata.namespace
        existed = False
        try:
            created = self.tools.sets.value(await self.tools.client.create(self.tools.replica_sets, namespace, body))
        except ApiError as e:
            created = await self._after_refusal(name, e)
            existed = True
        if not existed and size > 0:
            self.record(NORMAL, SCALED, f"Scaled up replica set {name} from 0 to {size}")
        status, needs_update = self.deployment.status, self._set_revision(str(revision))
        if not existed and self.deployment.has_deadline:
            status = self.set_progress("True", NEW, f'Created new replica set "{name}"')
            needs_update = True
        if needs_update:
            await self.write_status(status)
        return created

    async def _after_refusal(self, name: str, error: ApiError) -> ReplicaSet:
        """Return the set if it exists already, and is that of this deployment; else report the error and raise it."""
        deployment = self.deployment
        if error.reason == "AlreadyExists":
            present = self.tools.sets.get(deployment.metadata.namespace, name)
            if present is None:
                raise error
            owner = present.metadata.controller
            is_own = owner is not None and owner.uid == deployment.metadata.uid
            if is_own and equal_ignoring_hash(deployment.spec.template, present.spec.template):
                return present
            # Another template has the same hash: the next look tries another name.
            count = (deployment.status.collision_count or 0) + 1
            await self.write_status(structs.replace(deployment.status, collision_count=count))
            raise error
        if is_namespace_terminating(error):
            raise error
        message = f'Failed to create new replica set "{name}": {error.message}'
        self.record(WARNING, CREATE_ERROR, message)
        if deployment.has_deadline:
            await self.write_status(self.set_progress("False", CREATE_ERROR, message))
        raise error
