"""Names, numbers and volumes of the pods of a stateful set (`pkg/controller/statefulset/stateful_set_utils.go`)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import PENDING, RUNNING, Pod
from hydrofoil.controllers.objects.revisions import REVISION_HASH, ControllerRevision
from hydrofoil.controllers.objects.stateful_sets import ROLLING_UPDATE, StatefulSet
from hydrofoil.controllers.pod_control import pod_from_template

POD_NAME, POD_INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"
"""The labels of pods with their name and their number."""
MEMBER = re.compile(r"(.*)-([0-9]+)")
LARGEST = (1 << 31) - 1
API_VERSION, KIND = "apps/v1", "StatefulSet"


@lru_cache(4096)
def parse_name(name: str) -> tuple[str, int]:
    """Return the name of the set and the number of a pod; without these, an empty name and -1."""
    match = MEMBER.fullmatch(name)
    if match is None:
        return "", -1
    return match[1], int(match[2]) if int(match[2]) <= LARGEST else -1


def claim_name(template: dict[str, Any], found: StatefulSet, ordinal: int) -> str:
    """Return the name of the claim of a pod by its template."""
    return f"{template['metadata']['name']}-{found.metadata.name}-{ordinal}"


def claim_body(template: dict[str, Any], found: StatefulSet, ordinal: int) -> dict[str, Any]:
    """Return the claim of a pod (`getPersistentVolumeClaims`)."""
    given = template["metadata"]
    labels = {**(given.get("labels") or {}), **found.spec.selector.match_labels}
    metadata = {
        **given,
        "name": claim_name(template, found, ordinal),
        "namespace": found.metadata.namespace,
        "labels": labels,
    }
    return {**template, "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}


def volumes_of(found: StatefulSet, ordinal: int, present: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the volumes of a pod: those of its claims, and the others that it has (`updateStorage`)."""
    claims = {
        template["metadata"]["name"]: {"claimName": claim_name(template, found, ordinal)}
        for template in found.spec.volume_claim_templates
    }
    own = [{"name": name, "persistentVolumeClaim": source} for name, source in claims.items()]
    return own + [volume for volume in present if volume["name"] not in claims]


class Member(Struct):
    """A pod of a stateful set, which may have to be created."""

    found: StatefulSet
    ordinal: int
    pod: Pod | None
    revision: str
    """The name of its revision."""
    source: ControllerRevision | None = None
    """That revision, of a pod that is to be created."""

    @property
    def name(self) -> str:
        """Return the name of the pod."""
        return f"{self.found.metadata.name}-{self.ordinal}" if self.pod is None else self.pod.metadata.name

    @property
    def uid(self) -> str:
        """Return the uid of the pod, empty before it is created."""
        return "" if self.pod is None else self.pod.metadata.uid

    @property
    def is_pending(self) -> bool:
        """Report whether the pod has not begun to run."""
        return self.pod is not None and self.pod.status.phase == PENDING

    @property
    def is_running_and_ready(self) -> bool:
        """Report whether the pod runs and is ready."""
        return self.pod is not None and self.pod.status.phase == RUNNING and self.pod.is_ready

    @property
    def is_terminating(self) -> bool:
        """Report whether the deletion of the pod has begun."""
        return self.pod is not None and self.pod.is_deleting

    def is_available(self, now: float) -> bool:
        """Report whether the pod has been ready for long enough."""
        return self.pod is not None and self.pod.is_available(self.found.spec.min_ready_seconds, now)

    def is_unavailable(self, now: float) -> bool:
        """Report whether an update has to wait for the pod."""
        return not self.is_available(now) or self.is_terminating

    @property
    def has_identity(self) -> bool:
        """Report whether the pod has the labels and volumes of its number (`identityMatches`, `storageMatches`)."""
        if self.pod is None:
            return True
        if self.pod.metadata.labels.get(POD_NAME) != self.name:
            return False
        volumes = {volume["name"]: volume for volume in self.pod.spec.volumes}
        return all(
            (volumes.get(template["metadata"]["name"], {}).get("persistentVolumeClaim") or {}).get("claimName")
            == claim_name(template, self.found, self.ordinal)
            for template in self.found.spec.volume_claim_templates
        )

    def identity_labels(self) -> dict[str, str]:
        """Return the labels that say which pod it is (`updateIdentity`)."""
        return {POD_NAME: self.name, POD_INDEX: str(self.ordinal)}

    def body(self) -> dict[str, Any]:
        """Return the pod to be created (`newVersionedStatefulSetPod`)."""
        assert self.source is not None
        template = self.source.template.value()
        made = pod_from_template(template, Owner(self.found.metadata, API_VERSION, KIND))
        labels = {**(made["metadata"].get("labels") or {}), **self.identity_labels(), REVISION_HASH: self.revision}
        made["metadata"] = {**made["metadata"], "name": self.name, "labels": labels}
        spec: dict[str, Any] = orjson.loads(bytes(self.source.template.spec))
        volumes = volumes_of(self.found, self.ordinal, spec.get("volumes") or [])
        made["spec"] = {**spec, "hostname": self.name, "subdomain": self.found.spec.service_name}
        if volumes:
            made["spec"]["volumes"] = volumes
        return made


def member_of(found: StatefulSet, pod: Pod) -> Member:
    """Return a pod that exists."""
    return Member(found, parse_name(pod.metadata.name)[1], pod, pod.metadata.labels.get(REVISION_HASH, ""))


def new_member(found: StatefulSet, ordinal: int, current: ControllerRevision, update: ControllerRevision) -> Member:
    """Return a pod that is to be created: before the partition of an update, of the current revision."""
    strategy, start = found.spec.update_strategy, found.spec.ordinals.start
    # Upstream's condition, whose last part does not depend on the type of the strategy.
    if strategy.rolling_update is not None:
        is_current = ordinal < start + strategy.rolling_update.partition
    else:
        is_current = strategy.type == ROLLING_UPDATE and ordinal < start + found.status.current_replicas
    source = current if is_current else update
    return Member(found, ordinal, None, source.metadata.name, source)
