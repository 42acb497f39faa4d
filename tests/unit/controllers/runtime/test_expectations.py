"""Expectations (`pkg/controller/controller_utils_test.go`, TestControllerExpectations and TestUIDExpectations)."""

from __future__ import annotations

import doctest

import pytest

from hydrofoil.clock import Clock
from hydrofoil.controllers.runtime import expectations
from hydrofoil.controllers.runtime.expectations import TIMEOUT, Expectations, UidExpectations


def test_the_example_runs() -> None:
    assert doctest.testmod(expectations).attempted


@pytest.fixture
async def clock() -> Clock:
    found = Clock()
    found.freeze()
    return found


async def test_an_object_without_expectations_may_be_acted_on(clock: Clock) -> None:
    assert Expectations(clock).is_satisfied("a/web")


async def test_all_creations_and_deletions_are_waited_for(clock: Clock) -> None:
    found = Expectations(clock)
    found.expect("a/web", 2, 1)
    for observe in (found.creation_observed, found.deletion_observed, found.creation_observed):
        assert not found.is_satisfied("a/web")
        observe("a/web")
    assert found.is_satisfied("a/web")
    found.creation_observed("a/web")
    assert found.is_satisfied("a/web"), "more may be observed than were expected"


async def test_an_event_that_never_comes_is_given_up(clock: Clock) -> None:
    found = Expectations(clock)
    found.expect_creations("a/web", 1)
    clock.advance(int(TIMEOUT - 1) * 10**9)
    assert not found.is_satisfied("a/web")
    clock.advance(2 * 10**9)
    assert found.is_satisfied("a/web")


async def test_objects_are_independent_and_may_be_forgotten(clock: Clock) -> None:
    found = Expectations(clock)
    found.expect_creations("a/web", 1)
    found.creation_observed("a/other")
    found.deletion_observed("a/web")
    assert not found.is_satisfied("a/web") and found.get("a/other") is None
    found.delete("a/web")
    assert found.is_satisfied("a/web")


async def test_a_deletion_is_counted_once_by_its_uid(clock: Clock) -> None:
    found = UidExpectations(clock)
    found.expect_deletion_of("a/web", ["one", "two"])
    found.deletion_of_observed("a/web", "one")
    found.deletion_of_observed("a/web", "one")
    found.deletion_of_observed("a/web", "unknown")
    assert not found.is_satisfied("a/web") and found.uids("a/web") == {"two"}
    found.deletion_of_observed("a/web", "two")
    assert found.is_satisfied("a/web")
    found.delete("a/web")
    assert not found.uids("a/web")
