"""Revisions and sizes in the annotations of replica sets (`pkg/controller/deployment/util/deployment_util.go`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hydrofoil.controllers.objects.deployments import Deployment
from hydrofoil.controllers.objects.replica_sets import ReplicaSet

REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
"""The replicas of the deployment when the set was scaled: whether its own number has changed since."""
MAX = "deployment.kubernetes.io/max-replicas"
"""The same with those of the surge: what the set is a share of."""
ROLLBACK_TO = "deprecated.deployment.rollback.to"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
OWN = frozenset((LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED, MAX, ROLLBACK_TO))
"""The annotations that are not the same for a deployment and its sets."""
LONGEST_HISTORY = 2000
"""The most letters of the annotation with former revisions."""
LARGEST = (1 << 31) - 1
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[0-9]+")


def parse_revision(text: str) -> int | None:
    """Return a revision, None if it is no number."""
    return int(text) if INTEGER.fullmatch(text) else None


def revision(found: ReplicaSet) -> int | None:
    """Return the revision of a set: 0 without one, None if it is no number (`Revision`)."""
    return parse_revision(found.metadata.annotations.get(REVISION, "0"))


def max_revision(sets: Iterable[ReplicaSet]) -> int:
    """Return the highest revision (`MaxRevision`)."""
    return max((revision(found) or 0 for found in sets), default=0)


def last_revision(sets: Iterable[ReplicaSet]) -> int:
    """Return the highest revision but one (`LastRevision`)."""
    highest = second = 0
    for found in sets:
        number = revision(found)
        if number is None:
            continue
        if number >= highest:
            highest, second = number, highest
        elif number > second:
            second = number
    return second


def count_annotation(found: ReplicaSet, name: str) -> int | None:
    """Return a number of replicas, None without a valid one."""
    text = found.metadata.annotations.get(name, "")
    return int(text) if NUMBER.fullmatch(text) and int(text) <= LARGEST else None


def size_annotations(deployment: Deployment) -> dict[str, str]:
    """Return the annotations of a set that is scaled now (`SetReplicasAnnotations`)."""
    replicas = deployment.spec.replicas
    return {DESIRED: str(replicas), MAX: str(replicas + deployment.max_surge)}


def _history(present: str, former: str) -> str:
    """Return the former revisions of a set with one more; the oldest ones go if there are too many."""
    if not present:
        return former
    numbers, length = present.split(","), len(present) + len(former) + 1
    while length > LONGEST_HISTORY and numbers:
        length -= len(numbers.pop(0)) + 1
    return ",".join([*numbers, former]) if length <= LONGEST_HISTORY else present


def current_annotations(
    annotations: Mapping[str, str], set_annotations: Mapping[str, str], number: int
) -> dict[str, str]:
    """Return the annotations of the set of the present template (`SetNewReplicaSetAnnotations`).

    They are its own, those of the deployment, and `number` as its revision, unless its own is higher.
    """
    copied = {name: value for name, value in annotations.items() if name not in OWN}
    found = {**set_annotations, **copied}
    former = set_annotations.get(REVISION, "")
    old = parse_revision(former) if former else 0
    if old is None:
        return dict(set_annotations)
    if old < number:
        found[REVISION] = str(number)
        if REVISION in set_annotations:
            # The template has come back: the set was the present one before.
            found[REVISION_HISTORY] = _history(set_annotations.get(REVISION_HISTORY, ""), former)
    return found


def rolled_back_annotations(annotations: Mapping[str, str], set_annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the annotations of a deployment that has got the template of a set (`SetDeploymentAnnotationsTo`)."""
    kept = {name: value for name, value in annotations.items() if name in OWN}
    return {**kept, **{name: value for name, value in set_annotations.items() if name not in OWN}}
