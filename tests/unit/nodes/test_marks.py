"""The annotations that say what a simulated node does (`conformance/life`, README)."""

from __future__ import annotations

import orjson
import pytest
from msgspec import structs

from hydrofoil.nodes.marks import exit_code, read_seconds
from hydrofoil.nodes.pod_status import FirstReports, Report, ready_message
from tests.unit.values import pod

INDEX = "batch.kubernetes.io/job-completion-index"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("500ms", 0.5),
        ("2s", 2),
        ("1m", 60),
        ("1.5s", 1.5),
        ("1h30m", 5400),
        ("-1s", 0),
        ("never", 0),
        ("5", 0),
        (None, 0),
        ("..s", 0),
    ],
)
def test_durations(text: str | None, seconds: float) -> None:
    assert read_seconds(text) == seconds


@pytest.mark.parametrize(
    ("text", "index", "code"),
    [
        ("3", "", 3),
        ("1=5,2=6", "2", 6),
        ("1=5", "0", 0),
        ("x", "", 0),
        ("-1", "", 0),
        ("1=5,x", "1", 5),
        ("1=y", "1", 0),
    ],
)
def test_exit_codes(text: str, index: str, code: int) -> None:
    meta = {"annotations": {"sim.hydrofoil/exit-code": text}, "labels": {INDEX: index}}
    assert exit_code(pod(meta=meta).metadata) == code


def test_a_readiness_gate_holds_a_pod_back() -> None:
    gated = pod(
        readinessGates=[{"conditionType": "example.com/a"}, {"conditionType": "example.com/b"}],
        status={"conditions": [{"type": "example.com/a", "status": "False"}]},
    )
    status = Report(gated, "2026-01-01T00:00:00Z", "10.0.0.1", "10.0.0.2").running(True)
    ready = next(c for c in status["conditions"] if c["type"] == "Ready")
    assert ready["reason"] == "ReadinessGatesNotReady"
    assert ready["message"] == (
        'the status of pod readiness gate "example.com/a" is not "True", but False; '
        'corresponding condition of pod readiness gate "example.com/b" does not exist.'
    )


def test_a_time_of_transition_is_kept_while_the_status_is() -> None:
    old = {"type": "Initialized", "status": "True", "lastTransitionTime": "2025-01-01T00:00:00Z"}
    status = Report(pod(status={"conditions": [old]}), "2026-01-01T00:00:00Z", "", "").running(True)
    times = {c["type"]: c["lastTransitionTime"] for c in status["conditions"]}
    assert times["Initialized"] == "2025-01-01T00:00:00Z" and times["Ready"] == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize("image", ["x:1", "\ue000uid"])
def test_the_first_reports_of_a_template_are_those_of_each_pod(image: str) -> None:
    reports, now = FirstReports(), "2026-01-01T00:00:00Z"
    containers = [{"name": "main", "image": image}, {"name": "side", "image": "y"}]
    first = pod("a", containers=containers)
    gated = pod("b", containers=containers, readinessGates=[{"conditionType": "example.com/a"}])
    later = pod("c", containers=containers, status={"startTime": "2025-01-01T00:00:00Z"})
    for number, one in enumerate([first, structs.replace(first, metadata=gated.metadata), gated, later]):
        for ready in (True, False):
            host, address = f"10.0.0.{number}", f"10.1.0.{number}"
            whole = Report(one, now, host, address).running(ready)
            text, message = reports.encode(one, now, host, address, ready=ready)
            assert orjson.loads(text) == whole
            assert message == ready_message(whole)
    again = Report(first, "2026-01-01T00:00:01Z", "h", "p").running(True)
    assert orjson.loads(reports.encode(first, "2026-01-01T00:00:01Z", "h", "p", ready=True)[0]) == again
