"""The gate on instructions: what it reads, what it refuses, and that it holds."""

from __future__ import annotations

import json
import os

import pytest
from bench.instructions import BASELINE, REQUESTS, compiler, measure, parse, slower, sums

PROFILE = """\
events: Ir
fn=(1) hot::run
10 5
cfn=(2) hot::store_get::h0123456789abcdef
calls=1 20
11 700
cob=(3) libc
cfn=(4) memcpy
calls=3 1
12 99

fn=(2)
20 600
cfn=(5) hot::store_get::{{closure}}
calls=1 1
21 100

fn=(6) hot::other
1 1
cfn=(2)
calls=1 20
2 300
"""


def test_calls_are_counted_with_what_they_call() -> None:
    assert parse(PROFILE) == {"store_get": 1000}


def test_what_is_refused() -> None:
    assert slower({"a": 1000, "b": 1000}, {"a": 1050, "b": 10}) == []
    assert slower({"a": 1000, "b": 1}, {"a": 1051, "c": 1}) == [
        "a: 1,000 -> 1,051 (+5.1%)",
        "b: not measured",
        "c: not in the baseline",
    ]


def test_calls_of_a_request_add_up() -> None:
    calls = REQUESTS["create a pod"]
    before = dict.fromkeys(calls, 1000)
    assert slower(before, dict.fromkeys(calls, 1030)) == []
    # Each is within its own limit.
    assert slower(before, dict.fromkeys(calls, 1040)) == ["create a pod: 4,000 -> 4,160 (+4.0%)"]
    # Work that moved from one call to another costs the request nothing, but is a call above its limit.
    moved = before | {calls[0]: 1100, calls[1]: 900}
    assert slower(before, moved) == [f"{calls[0]}: 1,000 -> 1,100 (+10.0%)"]
    assert sums(dict.fromkeys(calls[1:], 1)) == {}


def test_requests_name_what_is_counted() -> None:
    baseline = json.loads(BASELINE.read_text())
    assert sums(baseline["instructions"]).keys() == REQUESTS.keys()


@pytest.mark.program("valgrind")
@pytest.mark.program("cargo")
@pytest.mark.timeout(600)  # it builds
def test_no_hot_call_became_slower() -> None:
    baseline = json.loads(BASELINE.read_text())
    if baseline["rustc"] != compiler():
        reason = f"the baseline is of rustc {baseline['rustc']}, this is {compiler()}: write its own on the parent"
        assert not os.environ.get("HYDROFOIL_CI"), reason
        pytest.skip(reason)
    assert slower(baseline["instructions"], measure()) == []
