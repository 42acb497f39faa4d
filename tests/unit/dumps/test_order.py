"""Owners come before their dependants, and each object once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hydrofoil.dumps.object import DumpedObject, Owner
from hydrofoil.dumps.order import DumpIndex, order_objects


def make(name: str, kind: str = "Pod", group: str = "", version: int = 1, **more: object) -> DumpedObject:
    owners = tuple(Owner("v1", "Pod", owner, f"uid-{owner}") for owner in more.get("owners", ()))  # type: ignore[attr-defined]
    api_version = f"{group}/v1" if group else "v1"
    uid = str(more.get("uid", f"uid-{name}"))
    return DumpedObject("x", 1, api_version, kind, "n", name, uid, version, owners, b"{}")


def order(*objects: DumpedObject) -> list[str]:
    index = DumpIndex()
    for one in objects:
        index.add(one)
    return [one.name for one in order_objects(index, index.objects())]


def test_definitions_and_namespaces_are_first_and_limits_last() -> None:
    kinds = [
        make("address", "IPAddress", "networking.k8s.io"),
        make("quota", "ResourceQuota"),
        make("pod"),
        make("hook", "MutatingWebhookConfiguration", "admissionregistration.k8s.io"),
        make("account", "ServiceAccount"),
        make("n", "Namespace"),
        make("boats", "CustomResourceDefinition", "apiextensions.k8s.io"),
    ]
    assert order(*kinds) == ["boats", "n", "account", "pod", "address", "quota", "hook"]


def test_of_two_of_a_name_the_newer_one_is_kept() -> None:
    index = DumpIndex()
    for version in (1, 3, 2):
        index.add(make("a", version=version))
    assert [one.version for one in index.objects()] == [3] and index.repeated == 2


def test_an_owner_is_found_by_its_uid_or_by_its_name_where_it_has_none() -> None:
    index, child = DumpIndex(), make("c", owners=["a"])
    index.add(make("a", uid="another"))
    assert index.owner(child.owners[0], child) is None
    index = DumpIndex()
    index.add(make("a", uid=""))
    found = index.owner(child.owners[0], child)
    assert found is not None and found.name == "a"


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 20), st.lists(st.integers(0, 25), max_size=3), max_size=20))
def test_owners_precede_unless_they_are_a_circle(graph: dict[int, list[int]]) -> None:
    objects = [make(str(n), owners=[str(owner) for owner in owners]) for n, owners in graph.items()]
    names = order(*objects)
    assert sorted(names) == sorted(map(str, graph))
    place = {name: at for at, name in enumerate(names)}

    def reaches(start: int, end: int) -> bool:
        waiting, seen = [start], set[int]()
        while waiting:
            one = waiting.pop()
            if one == end:
                return True
            if one not in seen:
                seen.add(one)
                waiting += graph.get(one, [])
        return False

    for n, owners in graph.items():
        for owner in owners:
            if owner in graph and not reaches(owner, n):
                assert place[str(owner)] < place[str(n)]


def test_a_chain_of_owners_may_be_long() -> None:
    chain = [make(f"{n:05}", owners=[f"{n + 1:05}"]) for n in range(20_000)]
    assert order(*chain) == [f"{n:05}" for n in reversed(range(20_000))]
