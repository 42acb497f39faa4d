"""The pods that a job makes and removes (`pkg/controller/job/job_controller.go`, manageJob)."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from hydrofoil.controllers.batch.backoff import remaining_of_index
from hydrofoil.controllers.batch.job_indexes import add_index_variable, indexes_of, set_index, surplus
from hydrofoil.controllers.batch.job_pods import has_finalizer, is_terminating, removal_order
from hydrofoil.controllers.batch.job_state import JobState
from hydrofoil.controllers.objects.jobs import TRACKING_FINALIZER, Job
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.pod_control import PodControl, is_namespace_terminating, pod_from_template
from hydrofoil.controllers.runtime.expectations import Expectations
from hydrofoil.controllers.slow_start import run_batch, slow_start
from hydrofoil.errors import ApiError

BURST = 500
"""The most pods that are made or removed in one look (`MaxPodCreateDeletePerSync`)."""
REMOVE_FINALIZER = {"metadata": {"$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER]}}


class Deletions(NamedTuple):
    """What became of deletions."""

    successes: int
    ready: int
    """The pods among all of them that were ready."""
    failure: ApiError | None


class JobPodManager:
    """Make and remove the pods of one job, during one look at it."""

    def __init__(self, control: PodControl, expectations: Expectations, owner: Owner, key: str) -> None:
        self._control = control
        self._expectations = expectations
        self._owner = owner
        self._key = key

    async def delete_active(self, state: JobState) -> Deletions:
        """Delete all active pods of a job that ends; their finalizers stay until they are counted."""
        pods = state.active_pods

        async def delete(number: int) -> None:
            await self._delete_pod(pods[number])

        result = await run_batch(len(pods), delete)
        deletions = Deletions(result.successes, sum(pod.is_ready for pod in pods), result.failure)
        self._count(state, deletions)
        return deletions

    async def _delete_pod(self, pod: Pod) -> None:
        try:
            await self._control.delete_pod(self._owner, pod.metadata.name)
        except ApiError as e:
            if e.code != 404:
                raise

    def _count(self, state: JobState, deletions: Deletions) -> None:
        state.active -= deletions.successes
        state.terminating += deletions.successes
        state.ready -= deletions.ready

    async def manage(self, state: JobState, again: Callable[[float], None]) -> ApiError | None:
        """Make or remove pods, not both in one look; return the first refusal.

        `again` is called with the seconds after which pods are made in place of failed ones.
        """
        spec = state.job.spec
        active = len(state.active_pods)
        wanted = 0 if spec.suspend else self._wanted(state, active)
        chosen = self._chosen(state, active if spec.suspend else max(active - wanted, 0))
        if chosen or spec.suspend:
            deletions = await self._remove(chosen)
            self._count(state, deletions)
            return deletions.failure
        missing = wanted - active - (state.terminating if spec.replaces_failed_only else 0)
        return await self._create(state, missing, again) if missing > 0 else None

    def _wanted(self, state: JobState, active: int) -> int:
        """Return how many pods should be active."""
        spec = state.job.spec
        if spec.completions is None:
            # After a first success, the others are left to end.
            return active if state.succeeded else spec.parallelism
        return max(min(spec.completions - state.succeeded, spec.parallelism), 0)

    def _chosen(self, state: JobState, least: int) -> list[Pod]:
        """Return the pods to remove: those that are too many for their index, and others up to a number."""
        extra, left = surplus(state.job, state.active_pods) if state.job.spec.is_indexed else ([], state.active_pods)
        if len(extra) < least:
            extra += heapq.nsmallest(least - len(extra), left, key=removal_order)
        return extra if state.job.spec.suspend else extra[:BURST]

    async def _remove(self, pods: list[Pod]) -> Deletions:
        """Delete pods that are not to be counted: first their finalizers go."""
        self._expectations.expect_deletions(self._key, len(pods))

        async def remove(number: int) -> None:
            pod = pods[number]
            meta = pod.metadata
            try:
                if has_finalizer(pod):
                    await self._control.patch(meta.namespace, meta.name, REMOVE_FINALIZER)
                await self._control.delete_pod(self._owner, meta.name)
            except ApiError as e:
                self._expectations.deletion_observed(self._key)
                if e.code != 404:
                    raise

        try:
            result = await run_batch(len(pods), remove)
        except BaseException:
            # It is unknown which of them will be observed.
            self._expectations.delete(self._key)
            raise
        return Deletions(result.successes, sum(pod.is_ready for pod in pods), result.failure)

    async def _create(self, state: JobState, missing: int, again: Callable[[float], None]) -> ApiError | None:
        spec, now = state.job.spec, state.now.seconds
        wait = state.record.remaining(now) if spec.backoff_limit_per_index is None else 0.0
        count = min(missing, BURST)
        indexes: list[int] | None = None
        if spec.is_indexed and not wait:
            indexes = self._pending(state, count)
            if spec.backoff_limit_per_index is not None:
                waits = {index: remaining_of_index(state.replaceable.get(index), now) for index in indexes}
                due = [index for index in indexes if not waits[index]]
                wait = 0.0 if due else min(waits.values(), default=0.0)
                indexes = due
            count = len(indexes)
        if wait:
            again(wait)
            # As upstream's: until the wait is over, the status has none.
            state.active = 0
            return None
        return await self._create_pods(state, count, indexes) if count else None

    def _pending(self, state: JobState, count: int) -> list[int]:
        """Return the first indexes that need a pod (`firstPendingIndexes`)."""
        taken = state.succeeded_indexes.merge(indexes_of(state.active_pods))
        if state.job.spec.replaces_failed_only:
            taken = taken.merge(indexes_of(filter(is_terminating, state.pods)))
        if state.failed_indexes is not None:
            taken = taken.merge(state.failed_indexes)
        return taken.gaps(count, state.job.spec.completions or 0)

    async def _create_pods(self, state: JobState, count: int, indexes: list[int] | None) -> ApiError | None:
        self._expectations.expect_creations(self._key, count)
        template = template_of(state.job, self._owner)
        replicas = None if indexes is not None else self._control.replicas(self._owner, orjson.dumps(template))
        left = iter(indexes or ())

        async def create(_: int) -> None:
            pod = replicas if replicas is not None else self._indexed(state, template, next(left))
            try:
                await self._control.create(self._owner, pod)
            except ApiError as e:
                # Any further one would fail, and the job itself goes soon.
                if not is_namespace_terminating(e):
                    raise

        try:
            result = await slow_start(count, create)
        except BaseException:
            self._expectations.delete(self._key)
            raise
        self._expectations.lower(self._key, creations=count - result.successes)
        state.active += result.successes
        return result.failure

    def _indexed(self, state: JobState, template: dict[str, Any], index: int) -> bytes:
        pod = {**template, "metadata": dict(template["metadata"]), "spec": dict(template["spec"])}
        set_index(pod, state.job, index, state.replaceable.get(index))
        return orjson.dumps(pod)


def template_of(job: Job, owner: Owner) -> dict[str, Any]:
    """Return a pod of a job, without its index."""
    value = job.spec.template.value()
    value["spec"] = orjson.loads(bytes(job.spec.template.spec))
    pod = pod_from_template(value, owner)
    if job.spec.is_indexed:
        add_index_variable(pod["spec"])
    finalizers = pod["metadata"].get("finalizers") or []
    if TRACKING_FINALIZER not in finalizers:
        pod["metadata"]["finalizers"] = [*finalizers, TRACKING_FINALIZER]
    return pod
