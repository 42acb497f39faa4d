"""Jobs whose pods a test ends."""

from __future__ import annotations

from typing import Any

from tests.unit.controllers.workloads.cluster import CONTAINERS, PODS, Cluster
from tests.unit.parts import Object, resource

JOBS, CRON_JOBS = resource("jobs", "batch"), resource("cronjobs", "batch")
FINALIZER = "batch.kubernetes.io/job-tracking"


def job_spec(restart: str = "Never", **spec: Any) -> Object:
    """Return the spec of a job."""
    return {"template": {"spec": {"restartPolicy": restart, "containers": CONTAINERS}}, **spec}


async def add_job(cluster: Cluster, name: str = "job", **spec: Any) -> Object:
    """Create a job."""
    return await cluster.create(JOBS, {"metadata": {"name": name}, "spec": job_spec(**spec)})


def status(cluster: Cluster, name: str = "job") -> Object:
    """Return the status of a job."""
    found: Object = cluster.get(JOBS, name)["status"]
    return found


def conditions(cluster: Cluster, name: str = "job") -> dict[str, str]:
    """Return the reasons of the conditions of a job that hold."""
    found = status(cluster, name).get("conditions", ())
    return {one["type"]: one["reason"] for one in found if one["status"] == "True"}


def live(cluster: Cluster) -> list[str]:
    """Return the names of pods that neither have ended nor are being deleted."""
    return [
        one["metadata"]["name"]
        for one in cluster.all(PODS)
        if one["status"]["phase"] in ("Pending", "Running") and "deletionTimestamp" not in one["metadata"]
    ]


async def end(cluster: Cluster, *names: str, code: int = 0) -> None:
    """End pods."""
    for name in names:
        state = {"terminated": {"exitCode": code, "finishedAt": cluster.clock.text()}}
        ended = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [container("c", state=state)]}
        await cluster.client.patch(PODS, "a", name, {"status": ended}, kind="merge", subresource="status")
    await cluster.runtime.idle()


def container(name: str, **more: Any) -> Object:
    """Return the status of a container."""
    return {"name": name, "ready": False, "restartCount": 0, "image": "i", "imageID": "i", **more}


def index_of(cluster: Cluster, index: int) -> str:
    """Return the name of the live pod of an index."""
    annotation = "batch.kubernetes.io/job-completion-index"
    alive = live(cluster)
    found = [
        one["metadata"]["name"]
        for one in cluster.all(PODS)
        if one["metadata"]["annotations"][annotation] == str(index) and one["metadata"]["name"] in alive
    ]
    assert len(found) == 1
    return str(found[0])
