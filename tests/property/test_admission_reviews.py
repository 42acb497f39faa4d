"""Answers of admission webhooks of any form are read or refused, never a fault."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrofoil import engine
from hydrofoil.admission.webhooks.reviews import Denied, NotDecoded, NotValid, reply

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
members = st.sampled_from(["uid", "allowed", "status", "patch", "patchType", "warnings", "auditAnnotations"])
statuses = st.dictionaries(st.sampled_from(["code", "message", "reason", "details", "metadata", "status"]), values)
responses = st.fixed_dictionaries({"uid": st.just("u")}, optional={"status": statuses}) | st.dictionaries(
    members, values
)
types = {"apiVersion": st.just("admission.k8s.io/v1"), "kind": st.just("AdmissionReview")}
reviews = values | st.fixed_dictionaries({**types, "response": responses | values})


@given(reviews, st.booleans(), st.sampled_from(["v1", "v1beta1"]))
def test_any_answer_is_read_or_refused(answer: Any, mutating: bool, version: str) -> None:
    try:
        found = reply(answer, version, "u", mutating=mutating)
    except (NotDecoded, NotValid) as e:
        assert str(e)
        return
    assert isinstance(found.allowed, bool)
    if not found.allowed:
        refused = Denied("w.example.com", found.status)
        assert refused.code >= 400
        assert orjson.dumps(refused.status())


@given(st.binary(max_size=64) | values.map(orjson.dumps))
def test_any_patch_is_applied_or_refused(patch: bytes) -> None:
    try:
        changed = engine.json_patch(b'{"a":{"b":[1,2,3]}}', patch)
    except engine.DecodeError as e:
        assert e.reason and e.message
        return
    orjson.loads(changed)


@given(values)
def test_a_good_answer_stays_good_beside_unknown_members(more: Any) -> None:
    response = {"uid": "u", "allowed": True, "patch": base64.b64encode(b"[]").decode(), "patchType": "JSONPatch"}
    answer = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {**response, "x": more},
        "y": more,
    }
    assert reply(answer, "v1", "u", mutating=True).patch == b"[]"
    with pytest.raises(NotValid):
        reply(answer, "v1", "u", mutating=False)
