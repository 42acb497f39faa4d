"""Cron jobs (`pkg/controller/cronjob/cronjob_controllerv2_test.go`, `utils_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from hydrofoil.controllers.batch.cron_job import CronJobController
from hydrofoil.controllers.batch.cron_schedule import parse_schedule
from hydrofoil.controllers.batch.job import JobController
from hydrofoil.controllers.batch.missed_schedules import UnusableSchedule, recent_schedule, seconds_to_next
from hydrofoil.controllers.objects.cron_jobs import CronJob, CronJobSpec, CronJobStatus
from hydrofoil.controllers.objects.meta import ObjectMeta
from tests.unit.controllers.batch.jobs import CRON_JOBS, JOBS, end, job_spec, live
from tests.unit.controllers.workloads.cluster import Cluster, controlled

BEGIN = datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)
MINUTE = 60


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([JobController, CronJobController]) as found:
        found.clock.freeze(BEGIN)
        yield found


async def add(cluster: Cluster, schedule: str = "* * * * *", name: str = "cron", **spec: Any) -> None:
    """Create a cron job."""
    template = {"metadata": {"labels": {"made": "cron"}}, "spec": job_spec()}
    await cluster.create(
        CRON_JOBS, {"metadata": {"name": name}, "spec": {"schedule": schedule, "jobTemplate": template, **spec}}
    )


def jobs(cluster: Cluster) -> list[str]:
    """Return the minutes of jobs, after the first one of the year."""
    first = int(BEGIN.timestamp()) // MINUTE
    return [f"{int(one['metadata']['name'].rpartition('-')[2]) - first}" for one in cluster.all(JOBS)]


def status(cluster: Cluster) -> dict[str, Any]:
    """Return the status of the cron job."""
    found: dict[str, Any] = cluster.get(CRON_JOBS, "cron")["status"]
    return found


async def test_a_job_is_made_at_its_minute(cluster: Cluster) -> None:
    await add(cluster)
    await cluster.advance(29)
    assert jobs(cluster) == []
    await cluster.advance(1)
    (job,) = cluster.all(JOBS)
    meta = job["metadata"]
    assert meta["annotations"] == {"batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T00:01:00Z"}
    assert meta["labels"]["made"] == "cron" and meta["ownerReferences"][0]["kind"] == "CronJob"
    found = status(cluster)
    assert found["lastScheduleTime"] == "2026-01-01T00:01:00Z" and found["active"][0]["name"] == meta["name"]
    await end(cluster, *live(cluster))
    found = status(cluster)
    assert "active" not in found and found["lastSuccessfulTime"] == "2026-01-01T00:01:00Z"
    events = cluster.events("CronJob")
    assert f"Normal SawCompletedJob: Saw completed job: {meta['name']}, condition: Complete" in events


@pytest.mark.parametrize(
    ("policy", "wanted", "event"),
    [
        ("Allow", ["1", "2"], "Normal SuccessfulCreate: Created job cron-{}"),
        ("Forbid", ["1"], "Normal JobAlreadyActive: Not starting job because prior execution is running and"),
        ("Replace", ["2"], "Normal SuccessfulDelete: Deleted job cron-{}"),
    ],
)
async def test_jobs_that_still_run(cluster: Cluster, policy: str, wanted: list[str], event: str) -> None:
    await add(cluster, concurrencyPolicy=policy)
    await cluster.advance(30)
    await cluster.advance(MINUTE)
    assert jobs(cluster) == wanted and len(status(cluster)["active"]) == len(wanted)
    name = int(BEGIN.timestamp()) // MINUTE + 1
    assert any(line.startswith(event.format(name)) for line in cluster.events("CronJob"))


async def test_a_suspended_one_makes_none_and_then_the_last_that_it_missed(cluster: Cluster) -> None:
    await add(cluster, suspend=True)
    await cluster.advance(5 * MINUTE)
    assert jobs(cluster) == []
    await cluster.patch(CRON_JOBS, "cron", {"spec": {"suspend": False}})
    assert jobs(cluster) == ["5"]


async def test_what_is_too_late_is_missed(cluster: Cluster) -> None:
    await add(cluster, "0 * * * *", suspend=True, startingDeadlineSeconds=20)
    await cluster.advance(60 * MINUTE)
    await cluster.patch(CRON_JOBS, "cron", {"spec": {"suspend": False}})
    assert jobs(cluster) == []
    await cluster.patch(CRON_JOBS, "cron", {"spec": {"startingDeadlineSeconds": 31}})
    assert jobs(cluster) == ["60"]


async def test_many_missed_moments_are_said_and_the_last_is_made(cluster: Cluster) -> None:
    await add(cluster, suspend=True)
    await cluster.advance(200 * MINUTE)
    await cluster.patch(CRON_JOBS, "cron", {"spec": {"suspend": False}})
    assert jobs(cluster) == ["200"]
    assert any(line.startswith("Warning TooManyMissedTimes") for line in cluster.events("CronJob"))


async def test_a_time_zone_moves_the_schedule(cluster: Cluster) -> None:
    await add(cluster, "30 1 * * *", timeZone="Europe/Berlin")
    await cluster.advance(30 * MINUTE)
    (job,) = cluster.all(JOBS)
    annotations = job["metadata"]["annotations"]
    assert annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] == "2026-01-01T01:30:00+01:00"


async def test_another_schedule_makes_no_job_at_once(cluster: Cluster) -> None:
    await add(cluster, "0 0 1 1 *")
    await cluster.patch(CRON_JOBS, "cron", {"spec": {"schedule": "*/2 * * * *"}})
    assert jobs(cluster) == []
    await cluster.advance(90)
    assert jobs(cluster) == ["2"]


async def test_old_jobs_go(cluster: Cluster) -> None:
    await add(cluster, successfulJobsHistoryLimit=1, failedJobsHistoryLimit=1)
    for code in (0, 1, 0, 1, 0):
        await cluster.advance(MINUTE)
        await end(cluster, *live(cluster), code=code)
        await cluster.advance(0.001)
    kinds = [{c["type"] for c in one["status"]["conditions"]} for one in cluster.all(JOBS)]
    assert sum("Complete" in one for one in kinds) == 1


async def test_a_job_that_is_missing_is_forgotten(cluster: Cluster) -> None:
    await add(cluster)
    await cluster.advance(30)
    (name,) = (one["metadata"]["name"] for one in cluster.all(JOBS))
    await cluster.delete(JOBS, name)
    assert "active" not in status(cluster)
    assert f"Normal MissingJob: Active job went missing: {name}" in cluster.events("CronJob")


async def test_the_job_of_a_moment_is_made_once(cluster: Cluster) -> None:
    """It may exist before the status says so: a server ended in between."""
    await add(cluster)
    await cluster.advance(30)
    await cluster.patch(CRON_JOBS, "cron", {"status": {"active": None, "lastScheduleTime": None}}, "status")
    assert jobs(cluster) == ["1"] and len(status(cluster)["active"]) == 1


async def test_a_schedule_without_moments_is_said(cluster: Cluster) -> None:
    await add(cluster, "0 0 31 2 *")
    text = "time difference between two schedules is less than 1 second"
    assert f"Warning InvalidSchedule: invalid schedule: 0 0 31 2 * : {text}" in cluster.events("CronJob")


def cron_job(last: int | None, deadline: int | None = None) -> CronJob:
    """Return a cron job that was made at 0, whose last job was made at a time in seconds."""
    meta = ObjectMeta("c", creation_timestamp="1970-01-01T00:00:00Z")
    time = None if last is None else datetime.fromtimestamp(last, UTC).isoformat()
    return CronJob(meta, CronJobSpec(starting_deadline_seconds=deadline), CronJobStatus(last_schedule_time=time))


@pytest.mark.parametrize(
    ("schedule", "last", "deadline", "now", "latest", "missed"),
    [
        ("0 * * * *", None, None, 10, None, 0),
        ("0 * * * *", None, None, 3600, 3600, 0),
        ("0 * * * *", None, None, 7200, 7200, 2),
        ("0 * * * *", 3600, None, 7199, None, 0),
        ("0 * * * *", 3600, None, 3600 * 200, 3600 * 200, 199),
        # Only what may begin late still.
        ("0 * * * *", None, 60, 3600 * 9 + 30, 3600 * 9, 0),
        ("0 * * * *", None, 60, 3600 * 9 + 90, None, 0),
        # From the last job on, not on the hour.
        ("@every 1h", 90, None, 90 + 3600 * 3 + 5, 90 + 3600 * 3, 3),
        # Friday at 14:30 was longer ago than twice the first distance: it is passed over, as upstream does.
        ("30 6-16/4 * * 1-5", 3600 * 30, None, 86400 * 3, None, 11),
    ],
)
def test_recent_moments(
    schedule: str, last: int | None, deadline: int | None, now: int, latest: int | None, missed: int
) -> None:
    found = recent_schedule(cron_job(last, deadline), parse_schedule(schedule), now, to_deadline=True)
    assert (found.latest, found.missed) == (latest, missed)


def test_the_next_look_is_at_the_next_moment() -> None:
    hourly = parse_schedule("0 * * * *")
    assert seconds_to_next(cron_job(None), hourly, 600) == 3000
    assert seconds_to_next(cron_job(3600), hourly, 3600 * 5 + 600) == 3000
    with pytest.raises(UnusableSchedule):
        recent_schedule(cron_job(None), parse_schedule("0 0 31 2 *"), 1, to_deadline=True)
