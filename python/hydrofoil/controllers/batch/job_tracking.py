"""How the pods of a job are counted: each once (`job_controller.go`, trackJobStatusAndRemoveFinalizers)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from hydrofoil.controllers.batch.intervals import Intervals
from hydrofoil.controllers.batch.job_indexes import has_index
from hydrofoil.controllers.batch.job_pod_manager import REMOVE_FINALIZER
from hydrofoil.controllers.batch.job_pods import completion_index, is_failed
from hydrofoil.controllers.batch.job_policies import match_failure
from hydrofoil.controllers.batch.job_state import JobState, ensure_condition
from hydrofoil.controllers.batch.removed_finalizers import RemovedFinalizers
from hydrofoil.controllers.objects.jobs import (
    COMPLETE,
    FAILED,
    FAILURE_TARGET,
    SUCCESS_CRITERIA_MET,
    JobCondition,
    JobStatus,
    UncountedTerminatedPods,
)
from hydrofoil.controllers.objects.pods import SUCCEEDED, Pod
from hydrofoil.controllers.pod_control import PodControl
from hydrofoil.controllers.slow_start import run_batch
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer

MOST_UNCOUNTED = 500
"""The most pods that a status names as not counted yet (`MaxUncountedPods`)."""


class PodTracking:
    """Count the ended pods of one job, during one look at it.

    The order of writes makes that each is counted once, whenever this server ends in between: first the status names
    the pods that are to be counted, then their finalizers go, then the counters grow by those that have none, and the
    status names them no more. A pod without the finalizer is in the counters or named.
    """

    def __init__(
        self,
        state: JobState,
        control: PodControl,
        removed: RemovedFinalizers,
        key: str,
        write: Callable[[JobStatus], Awaitable[None]],
    ) -> None:
        """Take the function that writes the status, whose version it keeps."""
        self._state = state
        self._control = control
        self._removed = removed
        self._key = key
        self._write = write
        self._dirty = False
        """Whether the status has to be written."""
        self._tracked = {pod.metadata.uid for pod in state.pods if state.is_uncounted(pod)}
        """The pods whose finalizers are not removed."""

    async def run(self, *, dirty: bool, flushed: Callable[[], None]) -> JobCondition | None:
        """Count, and write what differs; return the condition of a job that ends now.

        `flushed` is called once the failures of this look are in the status. Raise ApiError.
        """
        state = self._state
        self._dirty = dirty
        self._count_removed()
        ended, is_full = await self._ended()
        if state.job.spec.is_indexed:
            self._note_indexes()
        self._note_conditions()
        if self._dirty:
            await self._write(state.status)
            flushed()
            self._dirty = False
        failure = await self._remove_finalizers(ended)
        self._count_removed()
        if failure is not None:
            if self._dirty:
                await self._write(state.status)
            raise failure
        finished = None if is_full else self._finish()
        if self._dirty:
            await self._write(state.status)
        return finished

    def _count_removed(self) -> None:
        """Add to the counters what has no finalizer any more (`cleanUncountedPodsWithoutFinalizers`)."""
        status = self._state.status
        uncounted = status.uncounted_terminated_pods or UncountedTerminatedPods()
        succeeded = tuple(uid for uid in uncounted.succeeded if uid in self._tracked)
        failed = tuple(uid for uid in uncounted.failed if uid in self._tracked)
        if (succeeded, failed) == (uncounted.succeeded, uncounted.failed):
            return
        self._dirty = True
        self._state.status = replace(
            status,
            succeeded=status.succeeded + len(uncounted.succeeded) - len(succeeded),
            failed=status.failed + len(uncounted.failed) - len(failed),
            uncounted_terminated_pods=UncountedTerminatedPods(succeeded, failed),
        )

    async def _ended(self) -> tuple[list[Pod], bool]:
        """Return the pods to be counted, and whether there are more than the status may name."""
        state = self._state
        uncounted = state.status.uncounted_terminated_pods or UncountedTerminatedPods()
        succeeded, failed = [*uncounted.succeeded], [*uncounted.failed]
        indexes: list[int] = []
        ended: list[Pod] = []
        is_full = False
        is_indexed, pacer = state.job.spec.is_indexed, Pacer()
        for pod in sorted(state.pods, key=completion_index) if is_indexed else state.pods:
            await pacer.pause()
            if pod.metadata.uid not in self._tracked or not self._may_go(pod):
                continue
            ended.append(pod)
            if pod.status.phase == SUCCEEDED and pod.metadata.uid not in state.uncounted.failed:
                if not is_indexed:
                    self._name(pod, succeeded)
                elif has_index(pod, state.job) and completion_index(pod) not in state.known_succeeded:
                    # The index says it: no uid is needed.
                    indexes.append(completion_index(pod))
                    self._dirty = True
            elif self._counts_as_failed(pod):
                self._name(pod, failed)
            if len(indexes) + len(succeeded) + len(failed) >= MOST_UNCOUNTED:
                is_full = True
                break
        state.succeeded_indexes = state.succeeded_indexes.merge(Intervals.of(indexes))
        uncounted = UncountedTerminatedPods(tuple(succeeded), tuple(failed))
        state.status = replace(state.status, uncounted_terminated_pods=uncounted)
        return ended, is_full

    def _name(self, pod: Pod, uids: list[str]) -> None:
        if pod.metadata.uid not in self._state.counted_uids:
            uids.append(pod.metadata.uid)
            self._dirty = True

    def _may_go(self, pod: Pod) -> bool:
        """Report whether the finalizer of a pod is to be removed (`canRemoveFinalizer`)."""
        state = self._state
        if state.job.metadata.is_deleting or state.finished is not None or pod.status.phase == SUCCEEDED:
            return True
        if not is_failed(pod, state.job):
            return False
        kept = state.replaceable.get(completion_index(pod))
        return kept is None or kept.metadata.uid != pod.metadata.uid

    def _counts_as_failed(self, pod: Pod) -> bool:
        """Report whether a pod is a failure: when the job has failed, each pod that has not ended is one."""
        state = self._state
        has_failed = state.finished is not None and state.finished.type != SUCCESS_CRITERIA_MET
        if not has_failed and not is_failed(pod, state.job):
            return False
        if state.job.spec.is_indexed and not has_index(pod, state.job):
            return False
        return match_failure(state.job.spec.pod_failure_policy, pod).counts

    def _note_indexes(self) -> None:
        state, status = self._state, self._state.status
        failed = None if state.failed_indexes is None else str(state.failed_indexes)
        completed = str(state.succeeded_indexes)
        if (completed, failed) != (status.completed_indexes, status.failed_indexes):
            self._dirty = True
        state.status = replace(
            status, succeeded=state.succeeded_indexes.total, completed_indexes=completed, failed_indexes=failed
        )

    def _note_conditions(self) -> None:
        """Note that the job will end, before the finalizers of its pods go; and by which condition it then ends."""
        state, finished = self._state, self._state.finished
        if finished is None:
            return
        conditions = state.status.conditions
        if finished.type == FAILURE_TARGET:
            state.finished = state.now.condition(FAILED, finished.reason, finished.message)
        elif finished.type == SUCCESS_CRITERIA_MET:
            state.finished = state.now.condition(COMPLETE, finished.reason, finished.message)
            if any(known.type == SUCCESS_CRITERIA_MET and known.status == "True" for known in conditions):
                return
        else:
            return
        state.status = replace(state.status, conditions=(*conditions, finished))
        self._dirty = True

    async def _remove_finalizers(self, pods: list[Pod]) -> ApiError | None:
        """Remove the finalizers of pods; return the first refusal."""
        self._removed.expect(self._key, [pod.metadata.uid for pod in pods])

        async def remove(number: int) -> None:
            meta = pods[number].metadata
            try:
                await self._control.patch(meta.namespace, meta.name, REMOVE_FINALIZER)
            except ApiError as e:
                # No event will show that it is gone.
                self._removed.observe(self._key, meta.uid)
                if e.code != 404:
                    raise
            self._tracked.discard(meta.uid)

        return (await run_batch(len(pods), remove)).failure

    def _finish(self) -> JobCondition | None:
        """Note the condition by which the job ends, if all its pods are counted and gone (`enactJobFinished`)."""
        state = self._state
        finished, status = state.finished, state.status
        uncounted = status.uncounted_terminated_pods or UncountedTerminatedPods()
        if finished is None or uncounted.succeeded or uncounted.failed or state.terminating > 0:
            return None
        conditions, _ = ensure_condition(status.conditions, finished)
        end = finished.last_transition_time if finished.type == COMPLETE else status.completion_time
        state.status = replace(status, conditions=conditions, completion_time=end)
        self._dirty = True
        return finished
