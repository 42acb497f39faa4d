"""Stateful sets: order, updates, claims, revisions (`pkg/controller/statefulset/stateful_set_control_test.go`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.controllers.workloads import history
from hydrofoil.controllers.workloads.stateful_set import StatefulSetController
from hydrofoil.errors import forbidden
from tests.unit.controllers.workloads.cluster import PODS, Cluster, controlled, pod_template
from tests.unit.parts import Object, resource

SETS, REVISIONS = resource("statefulsets", "apps"), resource("controllerrevisions", "apps")
CLAIMS = resource("persistentvolumeclaims")
STORAGE = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with controlled([StatefulSetController]) as found:
        yield found


def stateful_set(replicas: int = 3, **spec: Any) -> Object:
    """Return a stateful set."""
    template = pod_template({"app": "db"})
    given = {"replicas": replicas, "selector": {"matchLabels": {"app": "db"}}, "template": template, **spec}
    return {"metadata": {"name": "db"}, "spec": {"serviceName": "peers", **given}}


def with_claims(**policy: str) -> Object:
    """Return what a stateful set with claims has."""
    template = {"metadata": {"name": "data", "labels": {"kind": "data"}}, "spec": STORAGE}
    return {"volumeClaimTemplates": [template], "persistentVolumeClaimRetentionPolicy": policy}


def status(cluster: Cluster) -> Object:
    """Return the status of the set."""
    found: Object = cluster.get(SETS, "db")["status"]
    return found


async def settle(cluster: Cluster) -> None:
    """Let all pods run, one after another."""
    for _ in range(20):
        await cluster.run()


async def update(cluster: Cluster, version: str) -> None:
    """Give the set another template."""
    await cluster.patch(SETS, "db", {"spec": {"template": {"metadata": {"labels": {"version": version}}}}})


def versions(cluster: Cluster) -> dict[str, str]:
    """Return the versions of the templates of the pods."""
    return {pod["metadata"]["name"]: pod["metadata"]["labels"].get("version", "") for pod in cluster.all(PODS)}


def owners(cluster: Cluster, name: str) -> list[str]:
    """Return the kinds of the owners of a claim."""
    return [one["kind"] for one in cluster.get(CLAIMS, name)["metadata"].get("ownerReferences", [])]


async def test_pods_come_one_after_another(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set())
    for number in range(3):
        assert cluster.pods() == [f"db-{n}" for n in range(number + 1)]
        await cluster.run()
    text = status(cluster)["updateRevision"]
    assert status(cluster) == {
        "observedGeneration": 1,
        "replicas": 3,
        "readyReplicas": 3,
        "currentReplicas": 3,
        "updatedReplicas": 3,
        "currentRevision": text,
        "updateRevision": text,
        "collisionCount": 0,
        "availableReplicas": 3,
    }
    assert cluster.events("StatefulSet") == [
        f"Normal SuccessfulCreate: Create Pod db-{n} in StatefulSet db successful" for n in range(3)
    ]
    pod = cluster.get(PODS, "db-1")
    assert pod["metadata"]["labels"] == {
        "app": "db",
        "apps.kubernetes.io/pod-index": "1",
        "controller-revision-hash": text,
        "statefulset.kubernetes.io/pod-name": "db-1",
    }
    assert pod["metadata"]["generateName"] == "db-"
    assert pod["spec"]["hostname"] == "db-1" and pod["spec"]["subdomain"] == "peers"


async def test_the_revision_of_a_template(cluster: Cluster) -> None:
    made = stateful_set()
    made["metadata"]["annotations"] = {"note": "x"}
    await cluster.create(SETS, made)
    (revision,) = cluster.all(REVISIONS)
    text = revision["metadata"]["labels"]["controller.kubernetes.io/hash"]
    assert revision["metadata"]["name"] == f"db-{text}" and revision["revision"] == 1
    assert revision["metadata"]["labels"] == {"app": "db", "controller.kubernetes.io/hash": text}
    assert revision["metadata"]["annotations"] == {"note": "x"}
    template = cluster.get(SETS, "db")["spec"]["template"]
    assert revision["data"] == {"spec": {"template": {"$patch": "replace", **template}}}
    # An object is patched with sorted members: data of another order could not be patched, for it may not change.
    await cluster.patch(REVISIONS, revision["metadata"]["name"], {"metadata": {"labels": {"a": "b"}}})


async def test_pods_go_the_last_one_first(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set())
    await settle(cluster)
    for number in range(3):
        await cluster.patch(PODS, f"db-{number}", {"metadata": {"finalizers": ["a.b/c"]}})
    await cluster.patch(SETS, "db", {"spec": {"replicas": 1}})
    assert cluster.pods() == ["db-0", "db-1"] and status(cluster)["replicas"] == 3
    await cluster.patch(PODS, "db-2", {"metadata": {"finalizers": None}})
    assert cluster.pods() == ["db-0"] and status(cluster)["replicas"] == 2
    await cluster.patch(PODS, "db-1", {"metadata": {"finalizers": None}})
    assert status(cluster)["replicas"] == 1
    assert cluster.events("StatefulSet")[-2:] == [
        f"Normal SuccessfulDelete: Delete Pod db-{n} in StatefulSet db successful" for n in (2, 1)
    ]


async def test_nothing_goes_while_a_pod_is_not_ready(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set())
    await settle(cluster)
    await cluster.run("db-0", ready=False)
    await cluster.patch(SETS, "db", {"spec": {"replicas": 1}})
    assert len(cluster.pods()) == 3
    await cluster.run("db-0")
    assert cluster.pods() == ["db-0"]


async def test_parallel_pods_do_not_wait(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set(podManagementPolicy="Parallel", ordinals={"start": 5}))
    assert cluster.pods() == ["db-5", "db-6", "db-7"]
    await cluster.patch(SETS, "db", {"spec": {"ordinals": {"start": 6}}})
    assert cluster.pods() == ["db-6", "db-7", "db-8"]
    await cluster.patch(SETS, "db", {"spec": {"replicas": 0}})
    assert cluster.pods() == [] and status(cluster)["replicas"] == 0


async def test_an_update_goes_from_the_last_to_the_first(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set())
    await settle(cluster)
    before = status(cluster)["currentRevision"]
    await update(cluster, "v2")
    for number in (2, 1, 0):
        assert [name for name, version in versions(cluster).items() if version] == [f"db-{n}" for n in range(number, 3)]
        assert status(cluster)["currentRevision"] == before
        assert status(cluster).get("currentReplicas", 0) == number
        await cluster.run()
    assert status(cluster)["currentRevision"] == status(cluster)["updateRevision"] != before
    assert status(cluster)["currentReplicas"] == status(cluster)["updatedReplicas"] == 3


async def test_a_partition_keeps_pods_below_it(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set(updateStrategy={"rollingUpdate": {"partition": 2}}))
    await settle(cluster)
    await update(cluster, "v2")
    await settle(cluster)
    assert versions(cluster) == {"db-0": "", "db-1": "", "db-2": "v2"}
    await cluster.delete(PODS, "db-0")
    await settle(cluster)
    assert versions(cluster) == {"db-0": "", "db-1": "", "db-2": "v2"}
    await cluster.patch(SETS, "db", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
    await settle(cluster)
    assert set(versions(cluster).values()) == {"v2"}


async def test_on_delete_waits_for_others_to_delete(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set(updateStrategy={"type": "OnDelete"}))
    await settle(cluster)
    await update(cluster, "v2")
    assert set(versions(cluster).values()) == {""} and "updatedReplicas" not in status(cluster)
    await cluster.delete(PODS, "db-1")
    await settle(cluster)
    assert versions(cluster)["db-1"] == "v2" and status(cluster)["updatedReplicas"] == 1


async def test_pods_have_to_be_ready_for_a_while(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set(2, minReadySeconds=10))
    await cluster.run()
    assert cluster.pods() == ["db-0"] and status(cluster)["readyReplicas"] == 1
    assert status(cluster)["availableReplicas"] == 0
    await cluster.advance(10.5)
    assert cluster.pods() == ["db-0", "db-1"] and status(cluster)["availableReplicas"] == 1


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
async def test_a_pod_that_has_ended_is_made_anew(cluster: Cluster, phase: str) -> None:
    await cluster.create(SETS, stateful_set(1))
    await settle(cluster)
    before = cluster.get(PODS, "db-0")["metadata"]["uid"]
    await cluster.patch(PODS, "db-0", {"status": {"phase": phase}}, "status")
    assert cluster.get(PODS, "db-0")["metadata"]["uid"] != before


async def test_a_pod_gets_its_identity_back(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set(1))
    await settle(cluster)
    label = "statefulset.kubernetes.io/pod-name"
    await cluster.patch(PODS, "db-0", {"metadata": {"labels": {label: None}}})
    assert cluster.get(PODS, "db-0")["metadata"]["labels"][label] == "db-0"
    assert cluster.events("StatefulSet")[-1] == "Normal SuccessfulUpdate: Update Pod db-0 in StatefulSet db successful"


async def test_orphans_are_taken_back_by_name(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set(2))
    await settle(cluster)
    uids = [pod["metadata"]["uid"] for pod in cluster.all(PODS)]
    await cluster.delete(SETS, "db", grace=None)
    for of in (PODS, REVISIONS):
        for one in cluster.all(of):
            await cluster.patch(of, one["metadata"]["name"], {"metadata": {"ownerReferences": None}})
    stranger = {"metadata": {"name": "stranger", "labels": {"app": "db"}}, "spec": pod_template({})["spec"]}
    await cluster.create(PODS, stranger)
    await cluster.create(SETS, stateful_set(2))
    assert [pod["metadata"]["uid"] for pod in cluster.all(PODS)][:2] == uids
    names = [[one["name"] for one in pod["metadata"].get("ownerReferences", [])] for pod in cluster.all(PODS)]
    assert names == [["db"], ["db"], []]
    (revision,) = cluster.all(REVISIONS)
    assert revision["metadata"]["ownerReferences"][0]["name"] == "db"


async def test_the_history_is_bounded(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set(1, revisionHistoryLimit=1))
    for version in ("v2", "v3", "v4"):
        await settle(cluster)
        await update(cluster, version)
    await settle(cluster)
    assert sorted(one["revision"] for one in cluster.all(REVISIONS)) == [3, 4]


async def test_a_template_that_comes_back_has_its_revision_again(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set(1))
    await settle(cluster)
    first = status(cluster)["currentRevision"]
    await update(cluster, "v2")
    await settle(cluster)
    await cluster.patch(SETS, "db", {"spec": {"template": {"metadata": {"labels": {"version": None}}}}})
    await settle(cluster)
    assert status(cluster)["currentRevision"] == first
    assert sorted(one["revision"] for one in cluster.all(REVISIONS)) == [2, 3]


async def test_a_name_that_is_taken_is_a_collision(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "safe_hash", lambda _, collisions: f"same{collisions}")
    await cluster.create(SETS, stateful_set(1))
    await settle(cluster)
    await update(cluster, "v2")
    await settle(cluster)
    assert [one["metadata"]["name"] for one in cluster.all(REVISIONS)] == ["db-same0", "db-same1"]
    assert status(cluster)["collisionCount"] == 1 and status(cluster)["currentRevision"] == "db-same1"


@pytest.mark.parametrize(
    ("policy", "kept", "condemned"),
    [
        ({}, [], []),
        ({"whenDeleted": "Delete"}, ["StatefulSet"], ["StatefulSet"]),
        ({"whenScaled": "Delete"}, [], ["Pod"]),
        ({"whenDeleted": "Delete", "whenScaled": "Delete"}, ["StatefulSet"], ["Pod"]),
    ],
)
async def test_claims_are_owned_by_the_policy(
    cluster: Cluster, policy: dict[str, str], kept: list[str], condemned: list[str]
) -> None:
    await cluster.create(SETS, stateful_set(2, **with_claims(**policy)))
    await settle(cluster)
    claim = cluster.get(CLAIMS, "data-db-1")
    assert claim["metadata"]["labels"] == {"app": "db", "kind": "data"}
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}}
    assert cluster.get(PODS, "db-1")["spec"]["volumes"] == [volume]
    assert owners(cluster, "data-db-0") == owners(cluster, "data-db-1") == kept
    await cluster.patch(PODS, "db-1", {"metadata": {"finalizers": ["a.b/c"]}})
    await cluster.patch(SETS, "db", {"spec": {"replicas": 1}})
    assert owners(cluster, "data-db-0") == kept and owners(cluster, "data-db-1") == condemned


async def test_another_policy_changes_the_owners(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set(1, **with_claims(whenDeleted="Delete")))
    await settle(cluster)
    assert owners(cluster, "data-db-0") == ["StatefulSet"]
    policy = {"whenDeleted": "Retain", "whenScaled": "Retain"}
    await cluster.patch(SETS, "db", {"spec": {"persistentVolumeClaimRetentionPolicy": policy}})
    assert owners(cluster, "data-db-0") == []


async def test_the_claim_of_a_former_pod_has_to_go_first(cluster: Cluster) -> None:
    await cluster.create(SETS, stateful_set(2, **with_claims(whenScaled="Delete")))
    await settle(cluster)
    await cluster.patch(SETS, "db", {"spec": {"replicas": 1}})
    # The garbage collector would delete it now.
    assert owners(cluster, "data-db-1") == ["Pod"]
    await cluster.patch(SETS, "db", {"spec": {"replicas": 2}})
    assert cluster.pods() == ["db-0"]
    await cluster.delete(CLAIMS, "data-db-1", grace=None)
    assert cluster.pods() == ["db-0", "db-1"] and owners(cluster, "data-db-1") == []


async def test_a_claim_that_is_managed_by_others_is_left_to_them(cluster: Cluster) -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u", "controller": True}
    await cluster.create(CLAIMS, {"metadata": {"name": "data-db-0", "ownerReferences": [other]}, "spec": STORAGE})
    await cluster.create(SETS, stateful_set(1, **with_claims(whenDeleted="Delete")))
    await settle(cluster)
    assert owners(cluster, "data-db-0") == ["ConfigMap"]
    assert any(line.startswith("Warning ConflictingController: ") for line in cluster.events("StatefulSet"))


WHY = "is forbidden: exceeded quota"


@pytest.mark.parametrize(
    ("refused", "lines"),
    [
        (
            "persistentvolumeclaims",
            [
                f'Create Claim data-db-0 for Pod db-0 in StatefulSet db failed error: persistentvolumeclaims "x" {WHY}',
                "Create Pod db-0 in StatefulSet db failed error: "
                f'failed to create PVC data-db-0: persistentvolumeclaims "x" {WHY}',
            ],
        ),
        ("pods", [f'Create Pod db-0 in StatefulSet db failed error: pods "x" {WHY}']),
    ],
)
async def test_refusals_are_events(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, refused: str, lines: list[str]
) -> None:
    create = cluster.registry.create

    async def refuse(of: Any, *args: Any) -> Any:
        if of.plural == refused:
            raise forbidden("", of.plural, "x", "exceeded quota")
        return await create(of, *args)

    with monkeypatch.context() as patched:
        patched.setattr(cluster.registry, "create", refuse)
        patched.setattr(cluster.registry, "create_at_once", lambda *_: None)
        await cluster.create(SETS, stateful_set(1, **with_claims()))
        found = [line for line in cluster.events("StatefulSet") if line.startswith("Warning")]
        assert found == [f"Warning FailedCreate: {line}" for line in lines]
        assert cluster.pods() == [] and status(cluster)["replicas"] == 0
    await cluster.advance(1)
    assert cluster.pods() == ["db-0"]


async def test_a_claim_that_is_being_deleted_holds_up_its_pod(cluster: Cluster) -> None:
    await cluster.create(CLAIMS, {"metadata": {"name": "data-db-0", "finalizers": ["a.b/c"]}, "spec": STORAGE})
    await cluster.delete(CLAIMS, "data-db-0", grace=None)
    await cluster.create(SETS, stateful_set(1, **with_claims()))
    assert cluster.pods() == []
    line = "Create Pod db-0 in StatefulSet db failed error: pvc data-db-0 is being deleted"
    assert f"Warning FailedCreate: {line}" in cluster.events("StatefulSet")


async def test_a_set_that_is_being_deleted_only_counts(cluster: Cluster) -> None:
    await cluster.create(SETS, {**stateful_set(), "metadata": {"name": "db", "finalizers": ["a.b/c"]}})
    await cluster.delete(SETS, "db", grace=None)
    await cluster.run()
    assert cluster.pods() == ["db-0"] and status(cluster)["readyReplicas"] == 1
