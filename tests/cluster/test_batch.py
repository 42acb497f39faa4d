"""Jobs and cron jobs on simulated nodes, by a clock that a test moves."""

from __future__ import annotations

from typing import Any

from hydrofoil.testing.remote_server import RemoteServer
from tests.cluster.objects import MARK, pod


def template(marks: dict[str, str], **spec: Any) -> dict[str, Any]:
    """Return a template of pods that end."""
    found = pod("p", marks, restartPolicy="Never", **spec)
    return {"metadata": {"annotations": found["metadata"]["annotations"]}, "spec": found["spec"]}


def job(name: str, marks: dict[str, str], **spec: Any) -> dict[str, Any]:
    """Return a job."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": template(marks), **spec},
    }


def reasons(item: dict[str, Any]) -> dict[str, str]:
    """Return the reasons of the conditions of a job."""
    return {c["type"]: c["reason"] for c in item["status"].get("conditions", ())}


def test_a_job_takes_the_time_of_its_pods(cluster: RemoteServer) -> None:
    cluster.apply(job("three", {"exit-after": "10m"}, completions=3, parallelism=2))
    cluster.clock.advance("19m")
    assert cluster.get("jobs/three")["status"]["succeeded"] == 2
    cluster.clock.advance("1m")
    status = cluster.get("jobs/three")["status"]
    assert status["succeeded"] == 3 and status["completionTime"] == "2026-01-01T00:20:00Z"


def test_failures_back_off_up_to_the_limit(cluster: RemoteServer) -> None:
    cluster.apply(job("fails", {"exit-after": "0s", "exit-code": "1"}, backoffLimit=3))
    cluster.clock.advance("69s")
    assert cluster.get("jobs/fails")["status"]["failed"] == 3
    cluster.clock.advance("1s")
    found = cluster.get("jobs/fails")
    assert found["status"]["failed"] == 4 and reasons(found)["Failed"] == "BackoffLimitExceeded"


def test_an_index_fails_and_the_others_succeed(cluster: RemoteServer) -> None:
    spec = {"completionMode": "Indexed", "completions": 4, "parallelism": 4, "backoffLimitPerIndex": 1}
    cluster.apply(job("indexed", {"exit-after": "1s", "exit-code": "2=1"}, **spec))
    cluster.clock.advance("1m")
    found = cluster.get("jobs/indexed")["status"]
    assert (found["completedIndexes"], found["failedIndexes"], found["failed"]) == ("0,1,3", "2", 2)


def test_an_evicted_pod_is_made_anew(cluster: RemoteServer) -> None:
    cluster.apply(job("runs", {}))
    (before,) = cluster.list("pods")
    cluster.delete(f"pods/{before['metadata']['name']}")
    cluster.clock.advance("1m")
    running = [one for one in cluster.list("pods") if one["status"]["phase"] == "Running"]
    assert len(running) == 1 and cluster.get("jobs/runs")["status"]["failed"] == 1


def test_a_week_of_a_cron_job(cluster: RemoteServer) -> None:
    spec = {
        "schedule": "0 6 * * *",
        "timeZone": "Europe/Berlin",
        "successfulJobsHistoryLimit": 2,
        "jobTemplate": {"spec": {"template": template({"exit-after": "5m"}), "ttlSecondsAfterFinished": 10**6}},
    }
    cluster.apply({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "daily"}, "spec": spec})
    cluster.clock.advance("7d")
    status = cluster.get("cronjobs/daily")["status"]
    assert status["lastScheduleTime"] == "2026-01-07T05:00:00Z"
    assert status["lastSuccessfulTime"] == "2026-01-07T05:05:00Z" and "active" not in status
    starts = sorted(one["status"]["startTime"] for one in cluster.list("jobs"))
    assert starts == ["2026-01-06T05:00:00Z", "2026-01-07T05:00:00Z"]
    assert len(cluster.list("pods")) == 2, "pods go with their jobs"


def test_finished_jobs_go_with_their_pods(cluster: RemoteServer) -> None:
    cluster.apply(job("brief", {"exit-after": "1s"}, ttlSecondsAfterFinished=60))
    cluster.clock.advance("61s")
    assert not cluster.list("jobs") and not cluster.list("pods")


def test_marks_are_those_of_the_nodes() -> None:
    assert list(template({"exit-after": "1s"})["metadata"]["annotations"]) == [f"{MARK}exit-after"]
