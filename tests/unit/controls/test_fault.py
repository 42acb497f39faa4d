"""The text and the counts of a fault; which requests it matches is tested through servers."""

from __future__ import annotations

from hydrofoil.controls.fault import Fault, Subject
from hydrofoil.controls.faults import at_start, versioned
from hydrofoil.request import parse


def subject(method: str, target: str) -> Subject:
    return Subject(parse(method, target), "ann", "kubectl/1.36")


def test_counts() -> None:
    fault = Fault(1, "status", {"code": 500, "nth": 2, "times": 1})
    pods = subject("GET", "/api/v1/pods")
    assert [fault.meets(pods) for _ in range(3)] == [False, True, False]
    assert (fault.seen, fault.act(), fault.act(), fault.hits) == (3, True, False, 1)
    assert fault.spent and not fault.meets(pods), "it is seen, and does not act"
    assert str(fault) == "status code=500 nth=2 times=1 (seen 4, hits 1)"
    assert fault.name == "status code=500 nth=2 times=1"


def test_a_removed_fault_does_nothing() -> None:
    fault = Fault(1, "deny", {})
    fault.removed = True
    assert not fault.meets(subject("GET", "/api/v1/pods")) and not fault.act()


def test_faults_on_streams() -> None:
    assert Fault(1, "cut", {"verb": "watch"}).on_streams
    assert not Fault(1, "cut", {"verb": "watch", "when": "before"}).on_streams
    assert not Fault(1, "cut", {"verb": "list"}).on_streams
    assert Fault(1, "stall", {"verb": "watch", "after": 3}).after == 3


def test_versions_of_lists_and_watches() -> None:
    lists = {
        "/api/v1/pods": False,
        "/api/v1/pods?resourceVersion=0": False,
        "/api/v1/pods?resourceVersion=5": True,
        "/api/v1/pods?limit=1&continue=abc": True,
        "/api/v1/pods?watch=1&resourceVersion=5": True,
        "/api/v1/namespaces/n/pods/p?resourceVersion=5": False,
    }
    assert {target: versioned(subject("GET", target)) for target in lists} == lists
    watch = subject("GET", "/api/v1/pods?watch=1&resourceVersion=5")
    assert at_start(Fault(1, "expire", {}), watch)
    assert not at_start(Fault(1, "expire", {"after": 1}), watch)
