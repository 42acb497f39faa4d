"""Names, numbers and volumes of the pods of a stateful set (`pkg/controller/statefulset/stateful_set_utils.go`)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import RUNNING, Pod
from hydrofoil.controllers.objects.revisions import REVISION_HASH, ControllerRevision
from hydrofoil.controllers.objects.stateful_sets import ROLLING_UPDATE, StatefulSet
from hydrofoil.controllers.objects.times import parse_time
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
    """A pod of a stateful set, or one that is to be created, and what each look at the set asks of it.

    A pod that has not changed is asked once: a set has a look with each event of each of its pods.
    """

    ordinal: int
    name: str
    revision: str
    """The name of its revision."""
    pod: Pod | None = None
    source: ControllerRevision | None = None
    """That revision, of a pod that is to be created."""
    phase: str = ""
    """Empty before the pod is created."""
    is_ready: bool = False
    ready_since: float | None = None
    """In seconds since 1970."""
    is_terminating: bool = False
    """Whether the deletion of the pod has begun."""
    proven: int = -1
    """The generation of the set for which the pod is known to have its identity."""

    @property
    def uid(self) -> str:
        """Return the uid of the pod, empty before it is created."""
        return "" if self.pod is None else self.pod.metadata.uid

    @property
    def is_running_and_ready(self) -> bool:
        """Report whether the pod runs and is ready."""
        return self.is_ready and self.phase == RUNNING

    def is_available(self, least: int, now: float) -> bool:
        """Report whether the pod has been ready for some seconds."""
        return self.is_ready and (not least or (self.ready_since is not None and self.ready_since + least <= now))

    def is_unavailable(self, least: int, now: float) -> bool:
        """Report whether an update has to wait for the pod."""
        return self.is_terminating or not self.is_available(least, now)

    def identity_labels(self) -> dict[str, str]:
        """Return the labels that say which pod it is (`updateIdentity`)."""
        return {POD_NAME: self.name, POD_INDEX: str(self.ordinal)}


def has_identity(member: Member, found: StatefulSet) -> bool:
    """Report whether a pod has the labels and volumes of its number (`identityMatches`, `storageMatches`)."""
    pod = member.pod
    if pod is None:
        return True
    if pod.metadata.labels.get(POD_NAME) != member.name:
        return False
    templates = found.spec.volume_claim_templates
    claims = {volume.name: volume.persistent_volume_claim for volume in pod.spec.volumes} if templates else {}
    return all(
        (claim := claims.get(template["metadata"]["name"])) is not None
        and claim.claim_name == claim_name(template, found, member.ordinal)
        for template in templates
    )


def member_body(member: Member, found: StatefulSet) -> dict[str, Any]:
    """Return a pod to be created (`newVersionedStatefulSetPod`)."""
    assert member.source is not None
    template = member.source.template
    made = pod_from_template(template.value(), Owner(found.metadata, API_VERSION, KIND))
    labels = {**(made["metadata"].get("labels") or {}), **member.identity_labels(), REVISION_HASH: member.revision}
    made["metadata"] = {**made["metadata"], "name": member.name, "labels": labels}
    spec: dict[str, Any] = orjson.loads(bytes(template.spec))
    volumes = volumes_of(found, member.ordinal, spec.get("volumes") or [])
    made["spec"] = {**spec, "hostname": member.name, "subdomain": found.spec.service_name}
    if volumes:
        made["spec"]["volumes"] = volumes
    return made


def member_of(pod: Pod) -> Member:
    """Return a pod that exists."""
    meta, ready = pod.metadata, pod.condition("Ready")
    since = None if ready is None else ready.last_transition_time
    return Member(
        parse_name(meta.name)[1],
        meta.name,
        meta.labels.get(REVISION_HASH, ""),
        pod,
        phase=pod.status.phase,
        is_ready=ready is not None and ready.status == "True",
        ready_since=parse_time(since) if since else None,
        is_terminating=pod.is_deleting,
    )


def new_member(found: StatefulSet, ordinal: int, current: ControllerRevision, update: ControllerRevision) -> Member:
    """Return a pod that is to be created: before the partition of an update, of the current revision."""
    strategy, start = found.spec.update_strategy, found.spec.ordinals.start
    # Upstream's condition, whose last part does not depend on the type of the strategy.
    if strategy.rolling_update is not None:
        is_current = ordinal < start + strategy.rolling_update.partition
    else:
        is_current = strategy.type == ROLLING_UPDATE and ordinal < start + found.status.current_replicas
    source = current if is_current else update
    return Member(ordinal, f"{found.metadata.name}-{ordinal}", source.metadata.name, source=source)
