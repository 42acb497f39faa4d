"""Jobs (`pkg/controller/job/job_controller_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hydrofoil.controllers.batch.job import JobController
from hydrofoil.registry.write import Write
from tests.unit.controllers.batch.jobs import (
    FINALIZER,
    JOBS,
    add_job,
    conditions,
    container,
    end,
    index_of,
    live,
    status,
)
from tests.unit.controllers.workloads.cluster import PODS, Cluster, controlled
from tests.unit.parts import Object, draft


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([JobController]) as found:
        yield found


async def test_a_job_runs_to_its_completions(cluster: Cluster) -> None:
    await add_job(cluster, completions=3, parallelism=2)
    assert len(live(cluster)) == 2 and status(cluster)["active"] == 2
    (first, second) = live(cluster)
    assert all(one["metadata"]["finalizers"] == [FINALIZER] for one in cluster.all(PODS))
    await end(cluster, first)
    assert status(cluster)["succeeded"] == 1 and len(live(cluster)) == 2
    await end(cluster, *live(cluster))
    found = status(cluster)
    assert found["succeeded"] == 3 and "active" not in found and found["uncountedTerminatedPods"] == {}
    assert conditions(cluster) == {"SuccessCriteriaMet": "CompletionsReached", "Complete": "CompletionsReached"}
    assert found["completionTime"] == cluster.clock.text()
    assert all("finalizers" not in one["metadata"] for one in cluster.all(PODS)) and second not in live(cluster)
    assert "Normal Completed: Job completed" in cluster.events("Job")


async def test_each_pod_is_counted_once(cluster: Cluster) -> None:
    """A pod that goes while it is counted is in one counter, and in no other one."""
    await add_job(cluster, completions=10, parallelism=10, backoffLimit=9)
    names = live(cluster)
    await end(cluster, *names[:5])
    await end(cluster, *names[5:8], code=1)
    for name in names[:8]:
        await cluster.delete(PODS, name)
    found = status(cluster)
    assert (found["succeeded"], found["failed"]) == (5, 3) and len(live(cluster)) == 2


async def test_failures_wait_before_they_are_replaced(cluster: Cluster) -> None:
    await add_job(cluster, backoffLimit=6)
    for delay in (10, 20, 40):
        await end(cluster, *live(cluster), code=1)
        await cluster.advance(delay - 1)
        assert live(cluster) == []
        await cluster.advance(1)
        assert len(live(cluster)) == 1
    assert status(cluster)["failed"] == 3


async def test_too_many_failures_fail_the_job(cluster: Cluster) -> None:
    await add_job(cluster, backoffLimit=1, parallelism=3, completions=3)
    first, second, third = live(cluster)
    await cluster.patch(PODS, third, {"metadata": {"finalizers": [FINALIZER, "example.com/wait"]}})
    await end(cluster, first, second, code=1)
    assert conditions(cluster) == {"FailureTarget": "BackoffLimitExceeded"}, "a pod is being deleted still"
    assert live(cluster) == [] and status(cluster)["terminating"] == 1
    await cluster.patch(PODS, third, {"metadata": {"finalizers": None}})
    assert conditions(cluster)["Failed"] == "BackoffLimitExceeded" and status(cluster)["failed"] == 3


async def test_a_failed_job_ends_once_its_pods_have_gone(cluster: Cluster) -> None:
    await add_job(cluster, backoffLimit=0)
    await end(cluster, *live(cluster), code=3)
    assert conditions(cluster) == {"FailureTarget": "BackoffLimitExceeded", "Failed": "BackoffLimitExceeded"}
    found = status(cluster)
    assert (found["failed"], found["terminating"], found["ready"]) == (1, 0, 0) and "completionTime" not in found
    assert "Warning BackoffLimitExceeded: Job has reached the specified backoff limit" in cluster.events("Job")


async def test_restarts_in_place_count_for_the_limit(cluster: Cluster) -> None:
    await add_job(cluster, restart="OnFailure", backoffLimit=2)
    (name,) = live(cluster)
    running = {"phase": "Running", "containerStatuses": [container("c", restartCount=1)]}
    await cluster.patch(PODS, name, {"status": running}, "status")
    assert not conditions(cluster)
    running = {"phase": "Running", "containerStatuses": [container("c", restartCount=2)]}
    await cluster.patch(PODS, name, {"status": running}, "status")
    assert conditions(cluster)["FailureTarget"] == "BackoffLimitExceeded"


async def test_the_deadline_counts_from_the_start(cluster: Cluster) -> None:
    await add_job(cluster, activeDeadlineSeconds=60)
    await cluster.advance(59)
    assert not conditions(cluster)
    await cluster.advance(1)
    assert conditions(cluster)["FailureTarget"] == "DeadlineExceeded" and live(cluster) == []


async def test_a_suspended_job_has_no_pods_and_begins_anew(cluster: Cluster) -> None:
    await add_job(cluster, suspend=True, parallelism=2, activeDeadlineSeconds=60)
    assert live(cluster) == [] and conditions(cluster) == {"Suspended": "JobSuspended"}
    assert "startTime" not in status(cluster)
    await cluster.advance(100)
    await cluster.patch(JOBS, "job", {"spec": {"suspend": False}})
    assert len(live(cluster)) == 2 and status(cluster)["startTime"] == cluster.clock.text()
    await cluster.patch(JOBS, "job", {"spec": {"suspend": True}})
    found = status(cluster)
    assert live(cluster) == [] and "failed" not in found and "startTime" not in found
    events = [line.split(":")[0] for line in cluster.events("Job")]
    assert events.count("Normal Suspended") == 1 and events.count("Normal Resumed") == 1


async def test_fewer_in_parallel_are_deleted_uncounted(cluster: Cluster) -> None:
    await add_job(cluster, parallelism=3)
    await cluster.run(live(cluster)[0])
    kept = live(cluster)[0]
    await cluster.patch(JOBS, "job", {"spec": {"parallelism": 1}})
    assert live(cluster) == [kept] and "failed" not in status(cluster)


async def test_without_completions_one_success_is_enough(cluster: Cluster) -> None:
    await add_job(cluster, parallelism=2, completions=None)
    first, second = live(cluster)
    await end(cluster, first)
    assert live(cluster) == [second] and not conditions(cluster)
    await end(cluster, second, code=1)
    assert "Complete" in conditions(cluster)


async def test_pods_of_an_indexed_job_have_indexes(cluster: Cluster) -> None:
    await add_job(cluster, completionMode="Indexed", completions=3, parallelism=2)
    pods = cluster.all(PODS)
    assert [one["spec"]["hostname"] for one in pods] == ["job-0", "job-1"]
    assert [one["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] for one in pods] == ["0", "1"]
    (variable,) = pods[0]["spec"]["containers"][0]["env"]
    path = "metadata.labels['batch.kubernetes.io/job-completion-index']"
    assert variable["name"] == "JOB_COMPLETION_INDEX" and variable["valueFrom"]["fieldRef"]["fieldPath"] == path
    await end(cluster, index_of(cluster, 1))
    await end(cluster, index_of(cluster, 0), index_of(cluster, 2))
    assert status(cluster)["completedIndexes"] == "0-2" and "Complete" in conditions(cluster)


async def test_a_second_pod_of_an_index_goes(cluster: Cluster) -> None:
    await add_job(cluster, completionMode="Indexed", completions=2, parallelism=2)
    (first, *_) = cluster.all(PODS)
    meta = first["metadata"]
    kept = ("labels", "annotations", "ownerReferences", "finalizers")
    copy = {"metadata": {"name": "copy", **{name: meta[name] for name in kept}}, "spec": first["spec"]}
    await cluster.create(PODS, copy)
    assert len(live(cluster)) == 2 and "failed" not in status(cluster)


async def test_an_index_may_fail_alone(cluster: Cluster) -> None:
    limits: Object = {"backoffLimitPerIndex": 1, "maxFailedIndexes": 1}
    await add_job(cluster, completionMode="Indexed", completions=2, parallelism=2, **limits)
    first = index_of(cluster, 0)
    await end(cluster, first, code=1)
    assert FINALIZER in cluster.get(PODS, first)["metadata"]["finalizers"], "its failures are counted on"
    await cluster.advance(10)
    second = cluster.get(PODS, index_of(cluster, 0))
    assert second["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] == "1"
    await end(cluster, second["metadata"]["name"], code=1)
    assert status(cluster)["failedIndexes"] == "0" and not conditions(cluster)
    await end(cluster, index_of(cluster, 1))
    assert conditions(cluster)["Failed"] == "FailedIndexes" and status(cluster)["completedIndexes"] == "1"


async def test_too_many_failed_indexes_fail_the_job(cluster: Cluster) -> None:
    limits: Object = {"backoffLimitPerIndex": 0, "maxFailedIndexes": 0}
    await add_job(cluster, completionMode="Indexed", completions=2, parallelism=2, **limits)
    await end(cluster, index_of(cluster, 0), code=1)
    assert conditions(cluster)["FailureTarget"] == "MaxFailedIndexesExceeded"


async def test_ignored_failures_do_not_count(cluster: Cluster) -> None:
    policy = {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}}]}
    await add_job(cluster, backoffLimit=0, podFailurePolicy=policy)
    await end(cluster, *live(cluster), code=7)
    await cluster.advance(10)
    assert len(live(cluster)) == 1 and "failed" not in status(cluster)
    await end(cluster, *live(cluster), code=8)
    assert conditions(cluster)["Failed"] == "BackoffLimitExceeded"


async def test_a_success_policy_ends_the_other_pods(cluster: Cluster) -> None:
    policy = {"rules": [{"succeededIndexes": "1"}]}
    await add_job(cluster, completionMode="Indexed", completions=3, parallelism=3, successPolicy=policy)
    await end(cluster, index_of(cluster, 1))
    assert conditions(cluster)["SuccessCriteriaMet"] == "SuccessPolicy" and live(cluster) == []


async def test_pods_are_replaced_when_they_have_ended_if_the_policy_says_so(cluster: Cluster) -> None:
    await add_job(cluster, "late", podReplacementPolicy="Failed")
    await add_job(cluster, "soon", podReplacementPolicy="TerminatingOrFailed")
    for name in live(cluster):
        await cluster.patch(PODS, name, {"metadata": {"finalizers": [FINALIZER, "example.com/wait"]}})
        await cluster.delete(PODS, name)
    await cluster.advance(10)
    (replaced,) = live(cluster)
    assert replaced.startswith("soon-") and status(cluster, "late")["terminating"] == 1


async def test_orphans_are_adopted_and_released(cluster: Cluster) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}
    await cluster.create(PODS, {"metadata": {"name": "orphan", "labels": {"app": "x"}}, "spec": spec})
    template = {"metadata": {"labels": {"app": "x"}}, "spec": spec}
    selector = {"matchLabels": {"app": "x"}}
    await add_job(cluster, manualSelector=True, selector=selector, template=template)
    meta = cluster.get(PODS, "orphan")["metadata"]
    assert live(cluster) == ["orphan"] and meta["finalizers"] == [FINALIZER]
    assert meta["ownerReferences"][0]["name"] == "job"
    await cluster.patch(PODS, "orphan", {"metadata": {"labels": {"app": "y"}}})
    meta = cluster.get(PODS, "orphan")["metadata"]
    assert "ownerReferences" not in meta and "finalizers" not in meta and len(live(cluster)) == 2


async def test_finalizers_of_pods_without_a_job_go(cluster: Cluster) -> None:
    await add_job(cluster, parallelism=2)
    pods = live(cluster)
    for name in pods:
        await cluster.patch(PODS, name, {"metadata": {"ownerReferences": None, "labels": None}})
    gone = [one for one in cluster.all(PODS) if one["metadata"]["name"] in pods]
    assert len(gone) == 2 and all("finalizers" not in one["metadata"] for one in gone)


async def test_pods_of_a_deleted_job_are_freed(cluster: Cluster) -> None:
    await add_job(cluster, parallelism=2)
    await cluster.delete(JOBS, "job")
    assert all("finalizers" not in one["metadata"] for one in cluster.all(PODS))


async def test_jobs_of_other_controllers_are_left_alone(cluster: Cluster) -> None:
    await add_job(cluster, managedBy="example.com/other")
    assert live(cluster) == [] and status(cluster) == {}


async def test_a_restart_counts_on(cluster: Cluster) -> None:
    """Whatever the last controller had noted is in the objects."""
    await add_job(cluster, completions=4, parallelism=2)
    (first, _) = live(cluster)
    await end(cluster, first)
    again = JobController(cluster.runtime)
    again.start()
    await cluster.runtime.idle()
    assert len(live(cluster)) == 2 and status(cluster)["succeeded"] == 1
    await again.stop()


async def test_a_large_job_is_made_in_parts(cluster: Cluster) -> None:
    body = {"metadata": {"name": "job"}, "spec": {"parallelism": 501, "completions": 501}}
    body["spec"] |= {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}  # type: ignore[operator]
    await cluster.registry.create(JOBS, "a", draft(JOBS, body), Write())
    await cluster.runtime.idle()
    assert len(live(cluster)) == 501 and status(cluster)["active"] == 501
    await end(cluster, *live(cluster))
    assert status(cluster)["succeeded"] == 501 and "Complete" in conditions(cluster)
