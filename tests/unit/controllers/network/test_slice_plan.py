"""Which slices are written (`k8s.io/endpointslice/reconciler_test.go`)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hydrofoil.controllers.network.slice_plan import PortGroup, Ports, SliceDraft, SlicePlan, key_of
from hydrofoil.controllers.objects.endpoint_slices import Endpoint, EndpointSlice
from hydrofoil.controllers.objects.meta import ObjectMeta

CAPACITY = 3


def endpoint(number: int) -> Endpoint:
    """Return an endpoint."""
    return Endpoint((f"10.0.0.{number}",))


def present(name: str, *numbers: int) -> EndpointSlice:
    """Return a slice that exists."""
    return EndpointSlice(ObjectMeta(name, resource_version="1"), endpoints=tuple(map(endpoint, numbers)))


def plan(slices: list[EndpointSlice], desired: set[int]) -> SlicePlan:
    """Return what is written for the desired endpoints."""

    def make(ports: Ports) -> SliceDraft:
        return SliceDraft("web-", "IPv4", ports, [], {}, {})

    found = SlicePlan()
    group = PortGroup((), slices, {key_of(endpoint(number)): endpoint(number) for number in sorted(desired)})
    group.place(found, CAPACITY, make, lambda _: ({}, False))
    return found


def outcome(slices: list[EndpointSlice], found: SlicePlan) -> list[tuple[Endpoint, ...]]:
    """Return the endpoints of all slices after the writes."""
    by_name = {one.metadata.name: tuple(one.endpoints or ()) for one in slices}
    for gone in found.delete:
        del by_name[gone.metadata.name]
    by_name |= {draft.name: tuple(draft.endpoints) for draft in found.update}
    return [*by_name.values(), *(tuple(draft.endpoints) for draft in found.create)]


def test_new_endpoints_fill_what_is_written_anyway() -> None:
    found = plan([present("a", 1, 2), present("b", 3)], {2, 3, 4, 5})
    assert [(draft.name, len(draft.endpoints)) for draft in found.update] == [("a", 3)] and not found.create


def test_new_endpoints_go_to_the_slice_that_they_fill_best() -> None:
    found = plan([present("a", 1), present("b", 2, 3)], {1, 2, 3, 4})
    assert [draft.name for draft in found.update] == ["b"] and not found.create


def test_more_than_a_slice_has_room_for_are_a_new_one() -> None:
    found = plan([present("a", 1, 2)], {1, 2, 3, 4})
    assert not found.update and [len(draft.endpoints) for draft in found.create] == [2]


def test_a_slice_without_endpoints_goes() -> None:
    found = plan([present("a", 1), present("b", 2)], {2})
    assert [gone.metadata.name for gone in found.delete] == ["a"] and not found.update


@given(
    st.lists(st.integers(0, 30), unique=True, max_size=15).flatmap(
        lambda numbers: st.tuples(
            st.just([numbers[at : at + CAPACITY] for at in range(0, len(numbers), CAPACITY)]),
            st.sets(st.integers(0, 30)),
        )
    )
)
def test_each_endpoint_has_one_place(given: tuple[list[list[int]], set[int]]) -> None:
    numbers, desired = given
    slices = [present(f"s{at}", *those) for at, those in enumerate(numbers)]
    found = plan(slices, desired)
    after = outcome(slices, found)
    placed = [one for endpoints in after for one in endpoints]
    assert sorted(one.addresses for one in placed) == sorted(endpoint(number).addresses for number in desired)
    assert all(len(endpoints) <= CAPACITY for endpoints in after)
