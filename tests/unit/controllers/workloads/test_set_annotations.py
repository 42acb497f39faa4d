"""Revisions and sizes of replica sets (`pkg/controller/deployment/util/deployment_util_test.go`)."""

from __future__ import annotations

import pytest

from hydrofoil.controllers.objects.deployments import Deployment, DeploymentSpec, RollingUpdate, Strategy
from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.objects.replica_sets import ReplicaSet, ReplicaSetSpec
from hydrofoil.controllers.workloads.set_annotations import (
    DESIRED,
    LAST_APPLIED,
    MAX,
    REVISION,
    REVISION_HISTORY,
    ROLLBACK_TO,
    count_annotation,
    current_annotations,
    last_revision,
    max_revision,
    revision,
    rolled_back_annotations,
    size_annotations,
)


def found(**annotations: str) -> ReplicaSet:
    """Return a set with annotations, by the names above."""
    names = {"revision": REVISION, "desired": DESIRED}
    meta = ObjectMeta("x", annotations={names[name]: value for name, value in annotations.items()})
    return ReplicaSet(meta, ReplicaSetSpec())


def test_revisions() -> None:
    sets = [found(revision="3"), found(revision="1"), found(), found(revision="x"), found(revision="2")]
    assert [revision(one) for one in sets] == [3, 1, 0, None, 2]
    assert max_revision(sets) == 3 and last_revision(sets) == 2
    assert max_revision([]) == last_revision([]) == 0
    assert last_revision([found(revision="1"), found(revision="1")]) == 1


@pytest.mark.parametrize(("text", "count"), [("3", 3), ("", None), ("-1", None), ("x", None), ("2147483648", None)])
def test_counts(text: str, count: int | None) -> None:
    assert count_annotation(found(desired=text), DESIRED) == count


def test_a_new_set_has_the_annotations_of_the_deployment() -> None:
    given = {"note": "x", LAST_APPLIED: "{}", REVISION: "7", ROLLBACK_TO: "1", DESIRED: "9"}
    assert current_annotations(given, {}, 1) == {"note": "x", REVISION: "1"}


def test_annotations_are_copied_and_never_removed() -> None:
    assert current_annotations({"a": "2"}, {"a": "1", "b": "1", REVISION: "5"}, 3) == {
        "a": "2",
        "b": "1",
        REVISION: "5",
    }


def test_a_set_that_comes_back_keeps_its_former_revisions() -> None:
    once = current_annotations({}, {REVISION: "1"}, 3)
    assert once == {REVISION: "3", REVISION_HISTORY: "1"}
    assert current_annotations({}, once, 5) == {REVISION: "5", REVISION_HISTORY: "1,3"}


def test_the_history_is_bounded() -> None:
    full = ",".join(str(number) for number in range(1000, 1400))
    kept = current_annotations({}, {REVISION: "1400", REVISION_HISTORY: full}, 1402)[REVISION_HISTORY]
    assert len(kept) <= 2000 and kept.endswith(",1399,1400") and not kept.startswith("1000")


def test_a_revision_that_is_no_number_stays() -> None:
    assert current_annotations({"a": "b"}, {REVISION: "x"}, 3) == {REVISION: "x"}


def test_sizes() -> None:
    strategy = Strategy(rolling_update=RollingUpdate("25%", "25%"))
    deployment = Deployment(ObjectMeta("d"), DeploymentSpec(replicas=5, strategy=strategy))
    assert size_annotations(deployment) == {DESIRED: "5", MAX: "7"}


def test_a_rollback_restores_the_annotations_of_the_set() -> None:
    restored = rolled_back_annotations({"a": "new", REVISION: "2", LAST_APPLIED: "{}"}, {"a": "old", DESIRED: "3"})
    assert restored == {"a": "old", REVISION: "2", LAST_APPLIED: "{}"}
