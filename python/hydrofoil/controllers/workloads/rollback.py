"""The deprecated rollback of a deployment, which an annotation asks for (`pkg/controller/deployment/rollback.go`)."""

from __future__ import annotations

import orjson

from hydrofoil.controllers.objects.replica_sets import ReplicaSet
from hydrofoil.controllers.objects.templates import POD_TEMPLATE_HASH, equal_ignoring_hash
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING
from hydrofoil.controllers.workloads.rollout import Rollout
from hydrofoil.controllers.workloads.set_annotations import (
    ROLLBACK_TO,
    last_revision,
    parse_revision,
    revision,
    rolled_back_annotations,
)
from hydrofoil.engine import Draft

NOT_FOUND, UNCHANGED = "DeploymentRollbackRevisionNotFound", "DeploymentRollbackTemplateUnchanged"
DONE = "DeploymentRollback"
"""The reasons of Events."""


def revision_to_restore(annotations: dict[str, str]) -> int | None:
    """Return the revision that is asked for, 0 for the last one; None if none is (`getRollbackTo`)."""
    text = annotations.get(ROLLBACK_TO, "")
    return parse_revision(text) if text else None


async def roll_back(rollout: Rollout, wanted: int) -> None:
    """Give the deployment the template of a former revision, and remove the annotation in any case."""
    await rollout.find_new(creates=True)
    number = wanted or last_revision(rollout.all)
    if not number:
        rollout.record(WARNING, NOT_FOUND, "Unable to find last revision.")
        return await _restore(rollout, None)
    found = next((one for one in rollout.all if revision(one) == number), None)
    name = rollout.deployment.metadata.name
    if found is None:
        rollout.record(WARNING, NOT_FOUND, "Unable to find the revision to rollback to.")
        return await _restore(rollout, None)
    if equal_ignoring_hash(rollout.deployment.spec.template, found.spec.template):
        message = f'The rollback revision contains the same template as current deployment "{name}"'
        rollout.record(WARNING, UNCHANGED, message)
        return await _restore(rollout, None)
    await _restore(rollout, found)
    rollout.record(NORMAL, DONE, f'Rolled back deployment "{name}" to revision {number}')
    return None


async def _restore(rollout: Rollout, found: ReplicaSet | None) -> None:
    """Write the deployment without the annotation, and with template and annotations of a set."""
    annotations = rollout.annotations
    if found is not None:
        # Else the annotations of the present revision would be copied to the set.
        annotations = rolled_back_annotations(annotations, found.metadata.annotations)
    annotations = {name: value for name, value in annotations.items() if name != ROLLBACK_TO}

    def change(draft: Draft) -> None:
        draft.set(["metadata", "annotations"], orjson.dumps(annotations))
        if found is not None:
            template = found.spec.template.value()
            labels = {name: value for name, value in found.spec.template.labels.items() if name != POD_TEMPLATE_HASH}
            template["metadata"] = {**found.spec.template.metadata, "labels": labels}
            draft.set(["spec", "template"], orjson.dumps(template))

    await rollout.update(change)
