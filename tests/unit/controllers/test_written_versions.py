"""What a controller has written and does not see yet."""

from __future__ import annotations

import doctest

from hydrofoil.controllers import written_versions
from hydrofoil.controllers.written_versions import DELETED, Observation, WrittenVersions

KEY = ("a", "web")


def test_the_example_runs() -> None:
    assert doctest.testmod(written_versions).attempted


def test_a_version_before_the_written_one_is_neither_news_nor_awaited() -> None:
    versions = WrittenVersions()
    versions.note(KEY, "x", 7, shown=4)
    assert versions.is_stale(KEY)
    assert versions.observe(KEY, "x", 5) == Observation(is_foreign=False, is_awaited=False)
    assert versions.observe(KEY, "x", 9) == Observation(is_foreign=True, is_awaited=True)


def test_what_is_shown_already_is_not_awaited() -> None:
    versions = WrittenVersions()
    versions.note(KEY, "x", 7, shown=7)
    versions.note(KEY, "y", 7, shown=8)
    versions.note(KEY, "z", DELETED, shown=DELETED)
    assert not versions.is_stale(KEY)


def test_a_deleted_one_is_awaited_until_it_has_gone() -> None:
    versions = WrittenVersions()
    versions.note(KEY, "x", DELETED, shown=3)
    versions.note(KEY, "y", 8, shown=DELETED)
    assert versions.is_stale(KEY)
    assert versions.observe(KEY, "x", 4) == Observation(is_foreign=False, is_awaited=False)
    assert versions.observe(KEY, "x", DELETED) == Observation(is_foreign=False, is_awaited=False)
    assert versions.observe(KEY, "y", 8) == Observation(is_foreign=False, is_awaited=True)


def test_a_restore_ends_all_waits() -> None:
    epochs = [0]
    versions = WrittenVersions(lambda: epochs[0])
    versions.note(KEY, "x", 7, shown=4)
    epochs[0] = 1
    assert not versions.is_stale(KEY)
