"""Deployments: rollouts by both strategies, bounds, scaling, pauses, rollbacks (`pkg/controller/deployment`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.controllers.objects import hashes
from hydrofoil.controllers.workloads import rollout
from hydrofoil.controllers.workloads.deployment import TRIES, DeploymentController
from hydrofoil.controllers.workloads.replica_set import ReplicaSetController
from hydrofoil.errors import forbidden
from tests.unit.controllers.workloads.cluster import PODS, Cluster, controlled, pod_template
from tests.unit.parts import Object, resource

DEPLOYMENTS, SETS = resource("deployments", "apps"), resource("replicasets", "apps")
REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([DeploymentController, ReplicaSetController]) as found:
        yield found


def deployment(replicas: int = 2, version: str = "v1", **spec: Any) -> Object:
    """Return a deployment."""
    template = pod_template({"app": "web", "version": version})
    given = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}
    return {"metadata": {"name": "web"}, "spec": given}


async def update(cluster: Cluster, version: str) -> None:
    """Give the deployment another template."""
    await cluster.patch(DEPLOYMENTS, "web", {"spec": {"template": {"metadata": {"labels": {"version": version}}}}})


async def roll(cluster: Cluster, most: int = 40) -> None:
    """Let new pods run until nothing changes."""
    for _ in range(most):
        await cluster.run()
        if all(pod["status"]["phase"] == "Running" for pod in cluster.all(PODS)):
            return
    raise AssertionError("the rollout does not end")


def found(cluster: Cluster) -> Object:
    """Return the deployment."""
    return cluster.get(DEPLOYMENTS, "web")


def condition(cluster: Cluster, kind: str) -> tuple[str, str, str]:
    """Return status, reason and message of a condition."""
    one = next(one for one in found(cluster)["status"]["conditions"] if one["type"] == kind)
    return one["status"], one["reason"], one["message"]


def sizes(cluster: Cluster) -> dict[str, int]:
    """Return the sizes of the sets by the versions of their templates."""
    return {
        one["spec"]["template"]["metadata"]["labels"]["version"]: one["spec"]["replicas"] for one in cluster.all(SETS)
    }


def set_annotations(cluster: Cluster) -> dict[str, dict[str, str]]:
    """Return the annotations of the sets by the versions of their templates."""
    return {
        one["spec"]["template"]["metadata"]["labels"]["version"]: one["metadata"]["annotations"]
        for one in cluster.all(SETS)
    }


async def test_a_rollout(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment())
    (one,) = cluster.all(SETS)
    text = one["metadata"]["labels"]["pod-template-hash"]
    assert one["metadata"]["name"] == f"web-{text}"
    assert one["metadata"]["labels"] == {"app": "web", "version": "v1", "pod-template-hash": text}
    assert one["spec"]["selector"] == {"matchLabels": {"app": "web", "pod-template-hash": text}}
    assert one["spec"]["template"]["metadata"]["labels"] == one["metadata"]["labels"]
    assert one["metadata"]["annotations"] == {
        "deployment.kubernetes.io/desired-replicas": "2",
        "deployment.kubernetes.io/max-replicas": "3",
        REVISION: "1",
    }
    (owner,) = one["metadata"]["ownerReferences"]
    assert owner["name"] == "web" and owner["controller"] and owner["blockOwnerDeletion"]
    assert condition(cluster, "Available")[:2] == ("False", "MinimumReplicasUnavailable")
    assert condition(cluster, "Progressing")[:2] == ("True", "ReplicaSetUpdated")
    assert found(cluster)["status"]["unavailableReplicas"] == 2
    await cluster.run()
    status = found(cluster)["status"]
    del status["conditions"]
    assert status == {
        "observedGeneration": 1,
        "replicas": 2,
        "updatedReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "terminatingReplicas": 0,
    }
    assert condition(cluster, "Available") == (
        "True",
        "MinimumReplicasAvailable",
        "Deployment has minimum availability.",
    )
    message = f'ReplicaSet "web-{text}" has successfully progressed.'
    assert condition(cluster, "Progressing") == ("True", "NewReplicaSetAvailable", message)
    assert found(cluster)["metadata"]["annotations"] == {REVISION: "1"}
    assert cluster.events("Deployment") == [f"Normal ScalingReplicaSet: Scaled up replica set web-{text} from 0 to 2"]


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable"),
    [(4, "25%", "25%"), (10, 3, 2), (3, 0, 1), (3, 1, 0), (1, "25%", "25%"), (5, "100%", 0), (2, 0, "1%")],
)
async def test_an_update_keeps_its_bounds(
    cluster: Cluster, replicas: int, surge: int | str, unavailable: int | str
) -> None:
    bounds = {"maxSurge": surge, "maxUnavailable": unavailable}
    strategy = {"type": "RollingUpdate", "rollingUpdate": bounds}
    await cluster.create(DEPLOYMENTS, deployment(replicas, strategy=strategy))
    await cluster.run()
    await update(cluster, "v2")
    percent = isinstance(surge, str)
    most = replicas + (-(-int(str(surge).rstrip("%")) * replicas // 100) if percent else int(surge))
    number = int(str(unavailable).rstrip("%"))
    least = replicas - (number * replicas // 100 if isinstance(unavailable, str) else number)
    if most == replicas and least == replicas:
        least -= 1
    for _ in range(4 * replicas):
        pods = [pod for pod in cluster.all(PODS) if "deletionTimestamp" not in pod["metadata"]]
        assert len(pods) <= most
        ready = [pod for pod in pods if pod["status"].get("conditions")]
        assert len(ready) >= least
        waiting = [pod["metadata"]["name"] for pod in pods if pod["status"]["phase"] == "Pending"]
        if not waiting:
            break
        await cluster.run(waiting[0])
    assert sizes(cluster) == {"v1": 0, "v2": replicas}
    assert condition(cluster, "Progressing")[1] == "NewReplicaSetAvailable"
    assert found(cluster)["metadata"]["annotations"][REVISION] == "2"


async def test_a_template_that_comes_back_has_its_set_again(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment())
    await cluster.run()
    names = [one["metadata"]["name"] for one in cluster.all(SETS)]
    await update(cluster, "v2")
    await roll(cluster)
    await update(cluster, "v1")
    await roll(cluster)
    assert sizes(cluster) == {"v1": 2, "v2": 0} and names[0] in [one["metadata"]["name"] for one in cluster.all(SETS)]
    assert set_annotations(cluster)["v1"][REVISION] == "3" and set_annotations(cluster)["v1"][HISTORY] == "1"
    assert found(cluster)["metadata"]["annotations"] == {REVISION: "3"}


async def test_an_unhealthy_old_pod_goes_first(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment(4))
    await cluster.run()
    sick = cluster.pods()[1]
    await cluster.run(sick, ready=False)
    await update(cluster, "v2")
    assert sick not in cluster.pods()


async def test_recreate_waits_for_the_end_of_old_pods(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment(strategy={"type": "Recreate"}))
    await cluster.run()
    old = cluster.pods()
    for name in old:
        await cluster.patch(PODS, name, {"metadata": {"finalizers": ["a.b/c"]}})
    await update(cluster, "v2")
    assert cluster.pods() == [] and sizes(cluster) == {"v1": 0}
    await cluster.patch(PODS, old[0], {"metadata": {"finalizers": None}})
    assert sizes(cluster) == {"v1": 0}
    await cluster.patch(PODS, old[1], {"metadata": {"finalizers": None}})
    assert sizes(cluster) == {"v1": 0, "v2": 2} and len(cluster.pods()) == 2
    await cluster.run()
    assert condition(cluster, "Progressing")[1] == "NewReplicaSetAvailable"


async def test_scaling(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment())
    await cluster.run()
    await cluster.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 5}})
    await cluster.run()
    assert sizes(cluster) == {"v1": 5} and found(cluster)["status"]["availableReplicas"] == 5
    assert set_annotations(cluster)["v1"]["deployment.kubernetes.io/desired-replicas"] == "5"
    # No rollout: its condition stays.
    assert condition(cluster, "Progressing")[1] == "NewReplicaSetAvailable"
    await cluster.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 0}})
    assert cluster.pods() == [] and "replicas" not in found(cluster)["status"]
    assert [line.rsplit(" ", 4)[1:] for line in cluster.events("Deployment")[1:]] == [
        ["from", "2", "to", "5"],
        ["from", "5", "to", "0"],
    ]


async def test_scaling_during_a_rollout_is_proportional(cluster: Cluster) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}
    await cluster.create(DEPLOYMENTS, deployment(10, strategy=strategy))
    await cluster.run()
    await update(cluster, "v2")
    assert sizes(cluster) == {"v1": 8, "v2": 5}
    await cluster.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 15}})
    assert sizes(cluster) == {"v1": 11, "v2": 7}


async def test_a_pause_holds_up_a_rollout_and_no_scaling(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment())
    await cluster.run()
    await cluster.patch(DEPLOYMENTS, "web", {"spec": {"paused": True}})
    assert condition(cluster, "Progressing") == ("Unknown", "DeploymentPaused", "Deployment is paused")
    await update(cluster, "v2")
    assert sizes(cluster) == {"v1": 2} and "updatedReplicas" not in found(cluster)["status"]
    await cluster.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 3}})
    assert sizes(cluster) == {"v1": 3}
    await cluster.patch(DEPLOYMENTS, "web", {"spec": {"paused": None}})
    assert condition(cluster, "Progressing")[1] in ("DeploymentResumed", "NewReplicaSetCreated", "ReplicaSetUpdated")
    await roll(cluster)
    assert sizes(cluster) == {"v1": 0, "v2": 3}


async def test_a_rollout_that_makes_no_progress_is_reported_in_time(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment(progressDeadlineSeconds=60))
    await cluster.advance(59)
    assert condition(cluster, "Progressing")[1] == "ReplicaSetUpdated"
    await cluster.advance(2)
    status, reason, message = condition(cluster, "Progressing")
    assert (status, reason) == ("False", "ProgressDeadlineExceeded")
    assert message.startswith('ReplicaSet "web-') and message.endswith("has timed out progressing.")
    # Progress after it counts all the same.
    await cluster.run()
    assert condition(cluster, "Progressing")[:2] == ("True", "NewReplicaSetAvailable")


async def test_progress_renews_the_deadline(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment(progressDeadlineSeconds=60))
    first, second = cluster.pods()
    await cluster.advance(50)
    await cluster.run(first)
    await cluster.advance(50)
    assert condition(cluster, "Progressing")[1] == "ReplicaSetUpdated"
    await cluster.advance(11)
    assert condition(cluster, "Progressing")[1] == "ProgressDeadlineExceeded"
    await cluster.run(second)
    assert condition(cluster, "Progressing")[1] == "NewReplicaSetAvailable"


async def test_without_a_deadline_there_is_no_condition(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment(progressDeadlineSeconds=2147483647))
    await cluster.run()
    assert [one["type"] for one in found(cluster)["status"]["conditions"]] == ["Available"]


async def test_the_history_is_bounded(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment(1, revisionHistoryLimit=1))
    for version in ("v2", "v3", "v4"):
        await roll(cluster)
        await update(cluster, version)
    await roll(cluster)
    assert sizes(cluster) == {"v3": 0, "v4": 1}
    await cluster.patch(DEPLOYMENTS, "web", {"spec": {"revisionHistoryLimit": 0}})
    assert sizes(cluster) == {"v4": 1}


async def test_annotations_are_copied_to_the_present_set(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment())
    await cluster.patch(DEPLOYMENTS, "web", {"metadata": {"annotations": {"note": "x"}, "labels": {"a": "b"}}})
    (one,) = cluster.all(SETS)
    assert one["metadata"]["annotations"]["note"] == "x" and "a" not in one["metadata"]["labels"]
    assert one["metadata"]["annotations"][REVISION] == "1"


async def test_another_time_of_readiness_is_no_rollout(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, deployment())
    await cluster.run()
    await cluster.patch(DEPLOYMENTS, "web", {"spec": {"minReadySeconds": 5}})
    (one,) = cluster.all(SETS)
    assert one["spec"]["minReadySeconds"] == 5


async def test_a_set_with_the_template_is_adopted(cluster: Cluster) -> None:
    labels = {"app": "web", "version": "v1"}
    template = pod_template(labels)
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    await cluster.create(SETS, {"metadata": {"name": "before", "labels": labels}, "spec": spec})
    await cluster.create(DEPLOYMENTS, deployment())
    (one,) = cluster.all(SETS)
    assert one["metadata"]["name"] == "before" and one["metadata"]["ownerReferences"][0]["name"] == "web"
    assert one["spec"]["replicas"] == 2 and one["metadata"]["annotations"][REVISION] == "1"
    assert condition(cluster, "Progressing")[1] in ("FoundNewReplicaSet", "ReplicaSetUpdated")
    # One that does not match any more is released, and another one is made.
    await cluster.patch(SETS, "before", {"metadata": {"labels": {"app": "other"}}})
    assert "ownerReferences" not in cluster.get(SETS, "before")["metadata"] and len(cluster.all(SETS)) == 2


async def test_a_name_that_is_taken_is_a_collision(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def same_hash(value: Any, collision: int | None = None) -> str:
        return f"same{collision or 0}"

    monkeypatch.setattr(rollout, "safe_hash", same_hash)
    await cluster.create(DEPLOYMENTS, deployment())
    await cluster.run()
    await update(cluster, "v2")
    await cluster.advance(1)
    assert found(cluster)["status"]["collisionCount"] == 1
    assert [one["metadata"]["name"] for one in cluster.all(SETS)] == ["web-same0", "web-same1"]


async def test_a_set_that_cannot_be_created_is_reported(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    create, calls = cluster.registry.create, 0

    async def refuse(of: Any, *args: Any) -> Any:
        nonlocal calls
        if of.plural == "replicasets":
            calls += 1
            raise forbidden("apps", "replicasets", "x", "exceeded quota")
        return await create(of, *args)

    with monkeypatch.context() as patched:
        patched.setattr(cluster.registry, "create", refuse)
        patched.setattr(cluster.registry, "create_at_once", lambda *_: None)
        await cluster.create(DEPLOYMENTS, deployment())
        status, reason, message = condition(cluster, "Progressing")
        assert (status, reason) == ("False", "ReplicaSetCreateError")
        assert message.startswith('Failed to create new replica set "web-')
        assert message.endswith('replicasets.apps "x" is forbidden: exceeded quota')
        assert cluster.events("Deployment") == [f"Warning ReplicaSetCreateError: {message}"]
        for _ in range(2 * TRIES):
            await cluster.advance(1)
        # It is given up until something changes.
        assert calls <= TRIES + 2
    await cluster.patch(DEPLOYMENTS, "web", {"metadata": {"annotations": {"a": "b"}}})
    assert sizes(cluster) == {"v1": 2}


async def test_a_refusal_of_pods_is_a_condition_of_the_deployment(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = cluster.registry.create

    async def refuse(of: Any, *args: Any) -> Any:
        if of.plural == "pods":
            raise forbidden("", "pods", "x", "exceeded quota")
        return await create(of, *args)

    with monkeypatch.context() as patched:
        patched.setattr(cluster.registry, "create", refuse)
        patched.setattr(cluster.registry, "create_at_once", lambda *_: None)
        await cluster.create(DEPLOYMENTS, deployment())
        assert condition(cluster, "ReplicaFailure") == (
            "True",
            "FailedCreate",
            'pods "x" is forbidden: exceeded quota',
        )
    await cluster.advance(1)
    await cluster.run()
    assert [one["type"] for one in found(cluster)["status"]["conditions"]] == ["Available", "Progressing"]


async def test_a_deployment_that_is_being_deleted_only_counts(cluster: Cluster) -> None:
    await cluster.create(DEPLOYMENTS, {**deployment(), "metadata": {"name": "web", "finalizers": ["a.b/c"]}})
    await cluster.delete(DEPLOYMENTS, "web", grace=None)
    await update(cluster, "v2")
    assert sizes(cluster) == {"v1": 2}
    await cluster.run()
    assert found(cluster)["status"]["readyReplicas"] == 2


@pytest.mark.parametrize(
    ("wanted", "reason", "version"),
    [
        ("0", "Normal DeploymentRollback", "v1"),
        ("1", "Normal DeploymentRollback", "v1"),
        ("2", "Warning DeploymentRollbackTemplateUnchanged", "v2"),
        ("7", "Warning DeploymentRollbackRevisionNotFound", "v2"),
    ],
)
async def test_the_deprecated_rollback(cluster: Cluster, wanted: str, reason: str, version: str) -> None:
    await cluster.create(DEPLOYMENTS, deployment())
    await cluster.patch(DEPLOYMENTS, "web", {"metadata": {"annotations": {"cause": "first"}}})
    await cluster.run()
    await update(cluster, "v2")
    await cluster.patch(DEPLOYMENTS, "web", {"metadata": {"annotations": {"cause": "second"}}})
    await roll(cluster)
    await cluster.patch(
        DEPLOYMENTS, "web", {"metadata": {"annotations": {"deprecated.deployment.rollback.to": wanted}}}
    )
    one = found(cluster)
    assert "deprecated.deployment.rollback.to" not in one["metadata"]["annotations"]
    assert one["spec"]["template"]["metadata"]["labels"] == {"app": "web", "version": version}
    assert one["metadata"]["annotations"]["cause"] == ("first" if version == "v1" else "second")
    assert any(line.startswith(f"{reason}:") for line in cluster.events("Deployment"))


async def test_a_rollback_without_a_revision(cluster: Cluster) -> None:
    made = deployment()
    made["metadata"]["annotations"] = {"deprecated.deployment.rollback.to": "0"}
    await cluster.create(DEPLOYMENTS, made)
    assert "deprecated.deployment.rollback.to" not in found(cluster)["metadata"]["annotations"]
    message = "Warning DeploymentRollbackRevisionNotFound: Unable to find last revision."
    assert message in cluster.events("Deployment")


async def test_long_names_are_cut(cluster: Cluster) -> None:
    made = deployment()
    made["metadata"]["name"] = name = "x" * 250
    await cluster.create(DEPLOYMENTS, made)
    (one,) = cluster.all(SETS)
    assert len(one["metadata"]["name"]) == 253 and one["metadata"]["name"].startswith(name[:240])


def test_hashes_depend_on_the_value_and_the_collisions() -> None:
    assert hashes.safe_hash({"a": 1, "b": 2}) == hashes.safe_hash({"b": 2, "a": 1})
    assert len({hashes.safe_hash({"a": 1}), hashes.safe_hash({"a": 1}, 0), hashes.safe_hash({"a": 1}, 1)}) == 3
