"""The canonical form of subsets (`pkg/api/v1/endpoints/util_test.go`, TestRepackSubsets)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrofoil.controllers.network.endpoint import CAPACITY, truncate
from hydrofoil.controllers.network.subsets import repack
from hydrofoil.controllers.objects.endpoints import EndpointAddress, EndpointSubset, ObjectReference, SubsetPort

Given = tuple[str, str, str]
"""Ready addresses, others, and ports, by letters and digits."""


def subset(ready: str = "", other: str = "", ports: str = "") -> EndpointSubset:
    """Return a subset."""
    first, second = (tuple(EndpointAddress(f"1.2.3.{ord(one)}") for one in letters) for letters in (ready, other))
    return EndpointSubset(first or None, second or None, tuple(SubsetPort("", int(n)) for n in ports) or None)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([], []),
        ([("", "", "")], [("", "", "")]),
        ([("a", "", "")], [("a", "", "")]),
        ([("a", "", "1")], [("a", "", "1")]),
        ([("", "a", "1")], [("", "a", "1")]),
        # Not ready wins.
        ([("a", "a", "1")], [("", "a", "1")]),
        ([("a", "", "1"), ("", "a", "1")], [("", "a", "1")]),
        ([("b", "a", "1")], [("b", "a", "1")]),
        # Ports of the same addresses are one subset, addresses with the same port as well.
        ([("a", "", "1"), ("a", "", "2")], [("a", "", "12")]),
        ([("a", "", "1"), ("b", "", "1")], [("ab", "", "1")]),
        ([("ab", "", "1"), ("a", "", "2")], [("ab", "", "1"), ("a", "", "2")]),
        ([("a", "", "1"), ("", "a", "2")], [("a", "", "1"), ("", "a", "2")]),
        ([("a", "", "1"), ("a", "", "")], [("a", "", "1")]),
    ],
)
def test_subsets_are_packed(given: list[Given], wanted: list[Given]) -> None:
    assert repack([subset(*one) for one in given]) == tuple(subset(*one) for one in wanted if any(one))


def test_pods_with_one_address_are_two() -> None:
    addresses = tuple(EndpointAddress("1.2.3.4", target_ref=ObjectReference("Pod", uid=uid)) for uid in ("b", "a"))
    (found,) = repack([EndpointSubset(addresses, None, (SubsetPort(port=1),))])
    assert found.addresses == addresses[::-1]


@given(st.lists(st.tuples(st.text("abc", max_size=3), st.text("abc", max_size=3), st.text("12", max_size=2))))
def test_packing_again_changes_nothing(given: list[Given]) -> None:
    packed = repack([subset(*one) for one in given])
    assert repack(packed) == packed


def counted(ready: int, other: int) -> EndpointSubset:
    """Return a subset with so many addresses."""
    addresses = tuple(EndpointAddress(f"10.0.{number // 256}.{number % 256}") for number in range(ready + other))
    return EndpointSubset(addresses[:ready] or None, addresses[ready:] or None, None)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([(CAPACITY, 0)], [(CAPACITY, 0)]),
        ([(CAPACITY + 1, 7)], [(CAPACITY, 0)]),
        ([(900, 400), (0, 400)], [(900, 50), (0, 50)]),
        ([(1500, 1), (500, 0)], [(750, 0), (250, 0)]),
        # Shares are rounded up: the last subset has the rest.
        ([(0, 400), (0, 400), (0, 400)], [(0, 334), (0, 334), (0, 332)]),
    ],
)
def test_too_many_addresses_are_cut_by_shares(given: list[tuple[int, int]], wanted: list[tuple[int, int]]) -> None:
    found, is_cut = truncate(tuple(counted(*one) for one in given))
    assert [(len(one.addresses or ()), len(one.not_ready_addresses or ())) for one in found] == wanted
    assert is_cut is (given != wanted)
