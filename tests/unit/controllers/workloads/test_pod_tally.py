"""Counts of pods that events keep up to date equal those of all pods."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hydrofoil.controllers.objects.meta import Condition, LabelSelector, ObjectMeta
from hydrofoil.controllers.objects.pods import Pod, PodSpec, PodStatus
from hydrofoil.controllers.workloads.pod_tally import ACTIVE, LABELED, MATCHING, OWN, READY, TERMINATING, PodTally

SELECTOR, LABELS = LabelSelector({"app": "web"}), {"app": "web", "version": "v1"}


def pod(name: str, phase: str, app: str, version: str, *, ready: bool, deleting: bool) -> Pod:
    """Return a pod in some state."""
    meta = ObjectMeta(
        name,
        namespace="a",
        labels={"app": app, "version": version},
        deletion_timestamp="2026-01-01T00:00:00Z" if deleting else None,
    )
    conditions = (Condition("Ready", "True" if ready else "False"),)
    return Pod(meta, PodSpec(()), PodStatus(phase, conditions=conditions))


PODS = st.builds(
    pod,
    st.sampled_from("abcd"),
    st.sampled_from(["Pending", "Running", "Succeeded", "Failed"]),
    st.sampled_from(["web", "db"]),
    st.sampled_from(["v1", "v2"]),
    ready=st.booleans(),
    deleting=st.booleans(),
)


@settings(deadline=None)
@given(st.lists(st.one_of(PODS, st.sampled_from("abcd"))))
def test_counts_are_those_of_the_present_pods(events: list[Pod | str]) -> None:
    tally = PodTally(SELECTOR, LABELS)
    present: dict[str, Pod] = {}
    for event in events:
        if isinstance(event, str):
            present.pop(event, None)
            tally.remove(("a", event))
        else:
            present[event.metadata.name] = event
            tally.put(event)
    own = [one for one in present.values() if one.is_active and one.metadata.labels["app"] == "web"]
    assert tally.count(OWN) == len(own) == len(list(tally.places(OWN)))
    assert tally.count(OWN | READY) == sum(one.is_ready for one in own)
    assert tally.count(OWN | LABELED) == sum(one.metadata.labels["version"] == "v1" for one in own)
    ending = [one for one in present.values() if one.is_deleting and not one.is_ended]
    assert tally.count(TERMINATING | MATCHING) == sum(one.metadata.labels["app"] == "web" for one in ending)
    foreign = {("a", name) for name, one in present.items() if one.is_active and one.metadata.labels["app"] != "web"}
    assert set(tally.foreign()) == foreign and tally.is_foreign_present == bool(foreign)
    assert tally.count(ACTIVE) == len(own) + len(foreign)
    assert all(("a", name) in tally for name in present)


def test_it_fits_one_selector_and_one_template() -> None:
    tally = PodTally(SELECTOR, LABELS)
    assert tally.fits(LabelSelector({"app": "web"}), dict(LABELS))
    assert not tally.fits(LabelSelector({"app": "db"}), LABELS) and not tally.fits(SELECTOR, {"app": "web"})
