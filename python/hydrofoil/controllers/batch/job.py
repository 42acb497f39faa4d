"""Jobs: pods that run to their end (`pkg/controller/job/job_controller.go`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.adoption import ControllerRefManager, deletion_check, orphan_keys, orphans
from hydrofoil.controllers.batch.backoff import BackoffRecord
from hydrofoil.controllers.batch.job_pod_manager import REMOVE_FINALIZER, JobPodManager
from hydrofoil.controllers.batch.job_pods import has_finalizer
from hydrofoil.controllers.batch.job_state import JobState, Moment, ensure_condition
from hydrofoil.controllers.batch.job_tracking import PodTracking
from hydrofoil.controllers.batch.removed_finalizers import RemovedFinalizers
from hydrofoil.controllers.objects.jobs import (
    COMPLETE,
    SUCCESS_CRITERIA_MET,
    SUSPENDED,
    TRACKING_FINALIZER,
    Job,
    JobCondition,
    JobStatus,
    namespace_of,
)
from hydrofoil.controllers.objects.meta import OwnerReference
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.pods import OF_JOB, UNMANAGED, Pod, controller_of
from hydrofoil.controllers.pod_control import PodControl
from hydrofoil.controllers.runtime.batch_period import BatchPeriod
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.expectations import Expectations
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.workloads.workload import WorkloadController
from hydrofoil.controllers.written_versions import WrittenVersions, version_of
from hydrofoil.errors import ApiError
from hydrofoil.watch.queue import Key

COMPONENT = "job-controller"
LEAST_DELAY = 1.0
"""The least seconds before pods are made in place of failed ones (`SyncJobBatchPeriod`)."""
POD, ENDED = "pod", "ended"
"""The first parts of keys of pods without a job, and of the pods of jobs that have ended."""


class JobController(WorkloadController):
    """Make the pods of each job, count those that end, and end the job."""

    name = "job"
    user = service_account("job-controller")
    width = 5

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder(COMPONENT, self.user)
        self._control = PodControl(self.client, self._recorder, self.resource("", "pods"))
        self._expectations = Expectations(self.registry.clock)
        self._removed = RemovedFinalizers()
        self._records: dict[str, BackoffRecord] = {}
        self._written = WrittenVersions(lambda: self.registry.storage.epoch)
        self._batch = BatchPeriod(runtime, self.queue)
        self._urgent: set[Key] = set()
        """The jobs that are new or whose spec has changed: those do not wait for what others do with pods."""
        self._epoch = self.registry.storage.epoch
        self._ended: dict[str, Job] = {}
        """Jobs that have ended or are gone, by uid, whose pods may have finalizers left."""

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all_served(catalog, ("", "pods"), ("batch", "jobs"))

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [
            self.watch("batch", "jobs", Job, self._on_job),
            self.watch("", "pods", Pod, self._on_pod, OF_JOB | UNMANAGED),
        ]

    def start(self) -> None:
        super().start()
        self._jobs = self.lister("batch", "jobs", Job)
        self._pods = self.lister("", "pods", Pod)

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    # ---- events

    def _on_job(self, old: Job | None, new: Job | None) -> None:
        either = old if new is None else new
        assert either is not None
        meta = either.metadata
        key = meta.namespace, meta.name
        self._written.observe(key, meta.name, version_of(new))
        if new is None:
            # A job of the same name begins anew.
            self._forget("/".join(key))
        if new is None or (old is not None and new.finished is not None):
            # Its last finalizers should be gone by now.
            self._ended[meta.uid] = either
            self.put(ENDED, meta.namespace, meta.uid)
            if new is not None:
                return
        if old is None or new is None or old.metadata.generation != new.metadata.generation:
            self._urgent.add(key)
        self.put(*key)

    def _forget(self, key: str) -> None:
        self._expectations.delete(key)
        self._removed.delete(key)
        self._records.pop(key, None)

    def _resolve(self, namespace: str, owner: OwnerReference | None) -> Job | None:
        """Return the job that an owner reference names, if it is that one still."""
        if owner is None or owner.kind != "Job":
            return None
        found = self._jobs.get(namespace, owner.name)
        return found if found is not None and found.metadata.uid == owner.uid else None

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        if new is None:
            assert old is not None
            self._on_deletion(old, is_gone=True)
        elif new.is_deleting:
            self._on_deletion(new, is_gone=False)
        else:
            self._on_change(old, new)

    def _on_change(self, old: Pod | None, new: Pod) -> None:
        before = None if old is None else old.metadata.controller
        after, meta = new.metadata.controller, new.metadata
        job = self._resolve(meta.namespace, after)
        is_moved = old is not None and before != after
        for one in filter(None, (self._resolve(meta.namespace, before) if is_moved else None, job)):
            key = f"{meta.namespace}/{one.metadata.name}"
            if not has_finalizer(new):
                self._removed.observe(key, meta.uid)
            if old is None:
                self._expectations.creation_observed(key)
            self.put(meta.namespace, one.metadata.name)
        if after is not None:
            return
        if has_finalizer(new):
            self.put(POD, meta.namespace, meta.name)
        if old is None or is_moved or old.metadata.labels != meta.labels:
            for one in self._jobs.index(namespace_of).get(meta.namespace):
                if one.spec.selector.matches(meta.labels):
                    self.put(meta.namespace, one.metadata.name)

    def _on_deletion(self, pod: Pod, *, is_gone: bool) -> None:
        """Tell a job of the deletion of a pod, when it begins and when it ends."""
        meta = pod.metadata
        job = self._resolve(meta.namespace, meta.controller)
        if job is None or job.finished is not None:
            if has_finalizer(pod) and not is_gone:
                self.put(POD, meta.namespace, meta.name)
            return
        key = f"{meta.namespace}/{job.metadata.name}"
        self._expectations.deletion_observed(key)
        if is_gone or not has_finalizer(pod):
            self._removed.observe(key, meta.uid)
        self.put(meta.namespace, job.metadata.name)

    # ---- pods without a job

    async def work(self, key: Key) -> bool:
        """Process a job, or remove the finalizers of pods that have none any more."""
        if len(key) == 2:
            if key in self._urgent:
                self._urgent.discard(key)
            else:
                await self._batch.wait()
            return await super().work(key)
        self.catch_up()
        kind, namespace, name = key
        if kind == POD:
            pod = self._pods.get(namespace, name)
            await self._release(() if pod is None else (pod,))
        elif (job := self._ended.pop(name, None)) is not None:
            owned = self._pods.index(controller_of).get(name)
            others = orphans(self._pods.index(orphan_keys), namespace, job.spec.selector)
            await self._release([*owned, *(pod for pod in others if job.spec.selector.matches(pod.metadata.labels))])
        return True

    async def _release(self, pods: Iterable[Pod]) -> None:
        """Remove the finalizers of pods that no job counts (`handleSingleOrphanPod`)."""
        for pod in pods:
            meta = pod.metadata
            owner = meta.controller
            if not has_finalizer(pod) or (owner is not None and (owner.kind, owner.api_version) != ("Job", "batch/v1")):
                continue
            job = self._resolve(meta.namespace, owner)
            if job is not None and (job.is_external or job.finished is None):
                continue
            try:
                await self._control.patch(meta.namespace, meta.name, REMOVE_FINALIZER)
            except ApiError as e:
                if e.code != 404:
                    raise

    # ---- jobs

    async def sync(self, namespace: str, name: str) -> bool:
        """Make, remove and count the pods of a job (`syncJob`)."""
        key = f"{namespace}/{name}"
        self._check_epoch()
        job = self._jobs.get(namespace, name)
        if job is None or job.finished is not None:
            self._forget(key)
            return True
        if job.is_external or self._written.is_stale((namespace, name)):
            return True
        self.check(job.metadata)
        # Before the pods are looked at: one that comes in between would be missing, and would fulfil them.
        acts = self._expectations.is_satisfied(key)
        owner = Owner(job.metadata, "batch/v1", "Job")
        pods = await self._claim(owner, job)
        clock = self.registry.clock
        now = Moment(clock.seconds(), clock.text())
        record = self._records.get(key, BackoffRecord())
        state = JobState(job, pods, self._removed.uids(key), record, now)
        await state.count()
        state.evaluate(lambda seconds: self.queue.after((namespace, name), seconds))
        manager = JobPodManager(self._control, self._expectations, owner, key)
        failure, is_changed = await self._act(state, manager, key, acts=acts)
        await self._track(state, key, is_changed=is_changed)
        return failure is None

    def _check_epoch(self) -> None:
        """Forget all that is expected and noted if the state was restored: the events of it will never come."""
        if self._epoch != self.registry.storage.epoch:
            self._epoch = self.registry.storage.epoch
            self._expectations = Expectations(self.registry.clock)
            self._removed = RemovedFinalizers()
            self._records.clear()

    async def _claim(self, owner: Owner, job: Job) -> list[Pod]:
        """Return the pods of a job, after adoption and release."""
        selector = job.spec.selector
        candidates = [
            *self._pods.index(controller_of).get(job.metadata.uid),
            *orphans(self._pods.index(orphan_keys), job.metadata.namespace, selector),
        ]
        check = deletion_check(self.registry, self.resource("batch", "jobs"), owner)
        manager: ControllerRefManager[Pod] = ControllerRefManager(
            owner, selector, self._control.patch, check, finalizers=(TRACKING_FINALIZER,)
        )
        return [_with_finalizer(pod) for pod in await manager.claim(candidates)]

    async def _act(
        self, state: JobState, manager: JobPodManager, key: str, *, acts: bool
    ) -> tuple[ApiError | None, bool]:
        """Bring the pods of a job in step with it; return the first refusal, and whether it is newly suspended."""
        job = state.job
        if state.finished is not None:
            active = state.active
            deletions = await manager.delete_active(state)
            if deletions.successes != active or not acts:
                # Pods are left, perhaps such as are not shown yet: the job cannot end.
                state.finished = None
            return deletions.failure, False
        failure = None
        manages = acts and not job.metadata.is_deleting
        if manages:
            meta = job.metadata

            def again(seconds: float) -> None:
                self.queue.after((meta.namespace, meta.name), max(seconds, LEAST_DELAY))

            failure = await manager.manage(state, again)
        completions = job.spec.completions
        least = 1 if completions is None else completions
        if state.succeeded >= least and not state.active:
            message = "Reached expected number of succeeded pods"
            state.finished = state.now.condition(SUCCESS_CRITERIA_MET, "CompletionsReached", message)
        elif manages:
            return failure, self._note_suspension(state)
        return failure, False

    def _note_suspension(self, state: JobState) -> bool:
        """Note whether a job is suspended; report whether that is new."""
        job, now, status = state.job, state.now, state.status
        if job.spec.suspend:
            wanted = now.condition(SUSPENDED, "JobSuspended", "Job suspended")
            reason, start = "Suspended", None
        else:
            wanted = now.condition(SUSPENDED, "JobResumed", "Job resumed", "False")
            # A deadline counts from here on.
            reason, start = "Resumed", now.text
        conditions, is_changed = ensure_condition(status.conditions, wanted)
        if is_changed:
            self._recorder.record(job.metadata.reference("batch/v1", "Job"), NORMAL, reason, wanted.message)
            state.status = replace(status, conditions=conditions, start_time=start)
        return is_changed

    async def _track(self, state: JobState, key: str, *, is_changed: bool) -> None:
        """Count the pods, and write the status."""
        job, known = state.job, state.job.status
        numbers = (state.active, state.ready, state.terminating)
        is_changed = is_changed or numbers != (known.active, known.ready, known.terminating)
        state.status = replace(state.status, active=state.active, ready=state.ready, terminating=state.terminating)
        version = job.metadata.resource_version

        async def write(status: JobStatus) -> None:
            nonlocal version
            version = await self._write(job, status, version)

        def flushed() -> None:
            self._records[key] = state.record

        tracking = PodTracking(state, self._control, self._removed, key, write)
        finished = await tracking.run(dirty=is_changed, flushed=flushed)
        if finished is not None:
            self._record_end(job, state.status, finished)

    async def _write(self, job: Job, status: JobStatus, version: str) -> str:
        """Write the status of a job; return the new version."""
        meta, jobs = job.metadata, self.resource("batch", "jobs")
        value = msgspec.to_builtins(status)
        stored = await self.client.update_status(jobs, meta.namespace, meta.name, value, version=version)
        shown = version_of(self._jobs.get(meta.namespace, meta.name))
        self._written.note((meta.namespace, meta.name), meta.name, stored.revision, shown)
        return str(stored.revision)

    def _record_end(self, job: Job, status: JobStatus, finished: JobCondition) -> None:
        """Record that a job has ended (`recordJobFinished`)."""
        about = job.metadata.reference("batch/v1", "Job")
        if finished.type != COMPLETE:
            self._recorder.record(about, WARNING, finished.reason, finished.message)
            return
        if job.spec.completions is not None and status.succeeded > job.spec.completions:
            text = "Too many succeeded pods running after completion count reached"
            self._recorder.record(about, WARNING, "TooManySucceededPods", text)
        self._recorder.record(about, NORMAL, "Completed", "Job completed")


def _with_finalizer(pod: Pod) -> Pod:
    """Return a pod as it is after its adoption."""
    if pod.metadata.controller is not None or has_finalizer(pod):
        return pod
    metadata = replace(pod.metadata, finalizers=(*pod.metadata.finalizers, TRACKING_FINALIZER))
    return replace(pod, metadata=metadata)
