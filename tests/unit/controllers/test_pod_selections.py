"""Pods by the selectors of objects: the same whether pods or selectors come first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hydrofoil.controllers.objects.meta import LabelSelector
from hydrofoil.controllers.objects.pods import Pod, namespace_of
from hydrofoil.controllers.pod_selections import PodSelections
from hydrofoil.controllers.runtime.lister import Lister
from tests.unit.values import pod

Keys = tuple[tuple[str, str], ...]
NAMES, VALUES = ("p0", "p1", "p2"), ("x", "y")
OWNERS = {("a", "one"): LabelSelector({"app": "x"}), ("a", "all"): LabelSelector(), ("b", "other"): LabelSelector()}


class Pods:
    """A lister whose pods a test sets."""

    def __init__(self) -> None:
        self.lister = Lister(Pod)
        self.selections = PodSelections(self.lister)

    def set(self, name: str, app: str | None) -> tuple[Keys, Keys]:
        """Set or remove a pod; return the owners that selected it before, and do now."""
        old = self.lister.get("a", name)
        new = None if app is None else pod(name, meta={"labels": {"app": app}})
        if old is None and new is None:
            return (), ()
        index = self.lister.index(namespace_of)
        if new is None:
            self.lister.values.pop(("a", name))
        else:
            self.lister.values["a", name] = new
        index.apply(("a", name), old, new)
        return self.selections.apply(old, new)


async def test_a_pod_counts_before_and_after_a_change_of_its_labels() -> None:
    pods = Pods()
    for owner, selector in OWNERS.items():
        assert await pods.selections.select(owner, selector) == []
    assert pods.set("p0", "x") == ((), (("a", "one"), ("a", "all")))
    assert pods.set("p0", "y") == ((("a", "one"), ("a", "all")), (("a", "all"),))
    assert pods.set("p0", None) == ((("a", "all"),), ())


async def test_another_selector_begins_anew() -> None:
    pods = Pods()
    pods.set("p0", "x")
    pods.set("p1", "y")
    owner = ("a", "one")
    assert [p.metadata.name for p in await pods.selections.select(owner, LabelSelector({"app": "x"}))] == ["p0"]
    assert [p.metadata.name for p in await pods.selections.select(owner, LabelSelector({"app": "y"}))] == ["p1"]
    pods.selections.forget(owner)
    first, second = pods.lister.values.values()
    assert pods.selections.of(first) == pods.selections.of(second) == ()


@given(
    st.lists(st.one_of(st.tuples(st.sampled_from(NAMES), st.sampled_from((*VALUES, None))), st.sampled_from([*OWNERS])))
)
async def test_any_order_gives_the_same(steps: list[tuple[str, str | None] | tuple[str, str]]) -> None:
    pods = Pods()
    for step in steps:
        if step in OWNERS:
            await pods.selections.select(step, OWNERS[step])
        else:
            pods.set(*step)
    for owner, selector in OWNERS.items():
        found = await pods.selections.select(owner, selector)
        wanted = {p.metadata.name for p in pods.lister if owner[0] == "a" and selector.matches(p.metadata.labels)}
        assert {p.metadata.name for p in found} == wanted
        assert all(owner in pods.selections.of(p) for p in found)
