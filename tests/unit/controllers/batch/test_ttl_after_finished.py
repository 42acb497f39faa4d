"""Jobs that go after their end (`ttlafterfinished_controller_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hydrofoil.controllers.batch.job import JobController
from hydrofoil.controllers.batch.ttl_after_finished import TtlAfterFinishedController
from tests.unit.controllers.batch.jobs import JOBS, add_job, end, live
from tests.unit.controllers.workloads.cluster import Cluster, controlled


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([JobController, TtlAfterFinishedController]) as found:
        yield found


def left(cluster: Cluster) -> list[str]:
    """Return the jobs whose deletion has not begun; no garbage collector ends it here."""
    return [one["metadata"]["name"] for one in cluster.all(JOBS) if "deletionTimestamp" not in one["metadata"]]


async def test_a_job_goes_some_time_after_its_end(cluster: Cluster) -> None:
    await add_job(cluster, ttlSecondsAfterFinished=60)
    await cluster.advance(100)
    await end(cluster, *live(cluster))
    await cluster.advance(59)
    assert left(cluster) == ["job"]
    await cluster.advance(1)
    assert left(cluster) == []
    assert cluster.get(JOBS, "job")["metadata"]["finalizers"] == ["foregroundDeletion"]


async def test_the_time_may_be_changed(cluster: Cluster) -> None:
    await add_job(cluster, ttlSecondsAfterFinished=10)
    await add_job(cluster, "kept")
    await end(cluster, *live(cluster))
    await cluster.patch(JOBS, "job", {"spec": {"ttlSecondsAfterFinished": 100}})
    await cluster.advance(99)
    assert left(cluster) == ["job", "kept"]
    await cluster.patch(JOBS, "kept", {"spec": {"ttlSecondsAfterFinished": 0}})
    assert left(cluster) == ["job"]
