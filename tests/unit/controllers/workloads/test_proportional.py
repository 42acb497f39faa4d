"""Shares of replica sets (`pkg/controller/deployment/sync_test.go`, TestScale)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrofoil.controllers.objects.deployments import (
    Deployment,
    DeploymentSpec,
    DeploymentStatus,
    RollingUpdate,
    Strategy,
)
from hydrofoil.controllers.objects.meta import ObjectMeta
from hydrofoil.controllers.objects.replica_sets import ReplicaSet, ReplicaSetSpec
from hydrofoil.controllers.workloads.proportional import proportions
from hydrofoil.controllers.workloads.set_annotations import MAX


def deployment(replicas: int, surge: int = 0, present: int = 0) -> Deployment:
    """Return a deployment that may have so many pods more."""
    strategy = Strategy(rolling_update=RollingUpdate(surge, 1))
    status = DeploymentStatus(replicas=present)
    return Deployment(ObjectMeta("d"), DeploymentSpec(replicas=replicas, strategy=strategy), status)


def sets(sizes: list[int], before: int | None) -> list[ReplicaSet]:
    """Return sets, the oldest first; `before` is what the deployment might have had when they were scaled."""
    annotations = {} if before is None else {MAX: str(before)}
    return [
        ReplicaSet(
            ObjectMeta(f"s{age}", creation_timestamp=f"2026-01-01T00:00:0{age}Z", annotations=annotations),
            ReplicaSetSpec(replicas=size),
        )
        for age, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("sizes", "before", "replicas", "surge", "wanted"),
    [
        ([5, 5], 10, 12, 0, [6, 6]),
        ([5, 5], 10, 8, 0, [4, 4]),
        ([3, 7], 10, 15, 0, [4, 11]),
        ([10, 5], 15, 20, 0, [13, 7]),
        ([2, 8, 10], 20, 27, 0, [2, 11, 14]),
        # Of two of one size, the newer one grows first, and the older one shrinks first.
        ([5, 5], 10, 11, 0, [5, 6]),
        ([5, 5], 10, 9, 0, [4, 5]),
        ([3, 3, 3], 9, 10, 0, [3, 3, 4]),
        ([5, 5], 10, 0, 0, [0, 0]),
        # Sizes stay where nothing is to be added.
        ([5, 5], 10, 10, 0, [5, 5]),
        # The surge counts.
        ([4, 4], 8, 10, 2, [6, 6]),
        ([2, 6], 8, 6, 2, [2, 6]),
        # Without the annotation, shares are those of the present pods.
        ([5, 5], None, 20, 0, [10, 10]),
    ],
)
def test_shares(sizes: list[int], before: int | None, replicas: int, surge: int, wanted: list[int]) -> None:
    found = {
        one.metadata.name: size
        for one, size in proportions(deployment(replicas, surge, sum(sizes)), sets(sizes, before))
    }
    assert [found[f"s{age}"] for age in range(len(sizes))] == wanted


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 50), min_size=2, max_size=5),
    st.integers(0, 300),
    st.integers(0, 50),
    st.one_of(st.none(), st.integers(0, 300)),
)
def test_the_sum_is_what_is_allowed(sizes: list[int], replicas: int, surge: int, before: int | None) -> None:
    found = proportions(deployment(replicas, surge, sum(sizes)), sets(sizes, before))
    total, allowed = sum(size for _, size in found), replicas + surge if replicas else 0
    assert all(size >= 0 for _, size in found)
    # What is left over is the largest one's, which cannot be less than nothing.
    assert total == allowed or (total > allowed and found[0][1] == 0)
