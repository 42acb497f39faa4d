"""The order of tests: what waits is spread, and no module is cut."""

from __future__ import annotations

from itertools import groupby, pairwise

from tests.order import END, spread


def order(items: list[str]) -> list[str]:
    """Return items, named `module/number`, in their order; those of `w` wait."""
    return spread(items, lambda item: item.partition("/")[0], lambda module: module == "w")


def test_those_that_wait_lie_between_the_modules_of_others() -> None:
    fast = [f"m{n}/{i}" for n in range(50) for i in range(4)]
    waiting = [f"w/{i}" for i in range(10)]
    found = order([*fast, *waiting])
    assert sorted(found) == sorted([*fast, *waiting])
    assert [item for item in found if item not in waiting] == fast
    modules = [module for module, _ in groupby(found, lambda item: item.partition("/")[0]) if module != "w"]
    assert modules == [f"m{n}" for n in range(50)], "none is cut"
    places = [found.index(item) for item in waiting]
    gaps = [later - sooner for sooner, later in pairwise(places)]
    assert max(gaps) - min(gaps) <= 4 and places[-1] <= END * len(found)


def test_nothing_is_lost_where_one_kind_is_alone() -> None:
    assert order([]) == []
    assert order(["w/1", "w/2"]) == ["w/1", "w/2"]
    assert order(["a/1", "b/1"]) == ["a/1", "b/1"]
    assert sorted(order(["a/1", "w/1", "w/2"])) == ["a/1", "w/1", "w/2"]
