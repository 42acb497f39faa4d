"""The revisions of a daemon set (`pkg/controller/daemon/update.go`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hydrofoil.controllers.objects.daemon_sets import DaemonSet
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.revisions import REVISION_HASH, ControllerRevision
from hydrofoil.controllers.pod_control import PodControl
from hydrofoil.controllers.workloads.history import History


class NameTaken(Exception):
    """Another revision has the name of the present one: the set has to count a collision."""


def hash_of(revision: ControllerRevision) -> str:
    """Return the hash that the pods of a revision are labelled with."""
    return revision.metadata.labels.get(REVISION_HASH, "")


class DaemonHistory:
    """The revisions of a set in one look at it."""

    def __init__(self, history: History, control: PodControl, owner: Owner, found: DaemonSet) -> None:
        self._history = history
        self._control = control
        self._owner = owner
        self._found = found

    async def construct(
        self, pods: Iterable[Pod], can_adopt: Callable[[], None]
    ) -> tuple[ControllerRevision, list[ControllerRevision]]:
        """Return the revision of the present template, which may be a new one, and the others (`constructHistory`).

        Raise ApiError, and NameTaken.
        """
        current: list[ControllerRevision] = []
        former: list[ControllerRevision] = []
        template = self._found.spec.template
        for revision in await self._history.claim(self._owner, self._found.spec.selector, can_adopt):
            if REVISION_HASH not in revision.metadata.labels:
                revision = await self._history.label(revision, REVISION_HASH, revision.metadata.name)  # noqa: PLW2901
            (current if revision.restores(template) else former).append(revision)
        number = max((revision.revision for revision in former), default=0) + 1
        if not current:
            collisions = self._found.status.collision_count
            made = await self._history.create(self._owner, template, number, collisions, REVISION_HASH)
            if made is None:
                raise NameTaken
            return made, former
        kept = await self._keep_one(current, pods)
        if kept.revision < number:
            kept = await self._history.renumber(kept, number)
        return kept, former

    async def _keep_one(self, current: list[ControllerRevision], pods: Iterable[Pod]) -> ControllerRevision:
        """Return the latest of several revisions of one template, and delete the others (`dedupCurHistories`)."""
        if len(current) == 1:
            return current[0]
        kept = max(current, key=lambda revision: revision.revision)
        text = hash_of(kept)
        for pod in pods:
            meta = pod.metadata
            if meta.labels.get(REVISION_HASH) != text:
                await self._control.patch(meta.namespace, meta.name, {"metadata": {"labels": {REVISION_HASH: text}}})
        for revision in current:
            if revision is not kept:
                await self._history.delete(revision)
        return kept

    async def clean_up(self, former: list[ControllerRevision], pods: Iterable[Pod]) -> None:
        """Delete the oldest revisions that no pod has, beyond those of the history (`cleanupHistory`)."""
        excess = len(former) - self._found.spec.revision_history_limit
        if excess <= 0:
            return
        live = {pod.metadata.labels.get(REVISION_HASH) for pod in pods}
        unused = (one for one in sorted(former, key=lambda one: one.revision) if hash_of(one) not in live)
        for _, revision in zip(range(excess), unused, strict=False):
            await self._history.delete(revision)
