"""Requests to conversion webhooks, and the answers that are accepted."""

from __future__ import annotations

import json

import pytest

from hydrofoil.apiextensions import review
from hydrofoil.apiextensions.review import ConversionFailed, Object, mismatch, restore_metadata

OBJECT: Object = {
    "apiVersion": "e.com/v1",
    "kind": "Thing",
    "metadata": {"name": "a", "uid": "u", "labels": {"x": "1"}, "annotations": {"y": "2"}, "generation": 3},
}
KIND = "e.com/v1, Kind=Thing"


def answered(**response: object) -> Object:
    """An answer."""
    return {"apiVersion": f"{review.GROUP}/v1", "kind": "ConversionReview", "response": {"uid": "u", **response}}


def test_the_first_version_that_both_sides_know_is_used() -> None:
    assert review.supported_version(["v7", "v1beta1", "v1"]) == "v1beta1"
    assert review.supported_version(["v7"]) == ""
    with pytest.raises(ConversionFailed, match="no supported conversion review versions"):
        review.request("", "u", [], "e.com/v2")


def test_a_request_names_the_desired_version() -> None:
    body = json.loads(review.request("v1", "u", [OBJECT], "e.com/v2"))
    assert body["apiVersion"] == f"{review.GROUP}/v1"
    assert body["request"] == {"uid": "u", "desiredAPIVersion": "e.com/v2", "objects": [OBJECT]}


def test_the_objects_of_an_answer() -> None:
    made = answered(result={"status": "Success"}, convertedObjects=[OBJECT, 3])
    assert review.objects_of_response("v1", "u", made) == [OBJECT]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"kind": "Pod", "apiVersion": "v1"}, "expected webhook response of .*, got v1, Kind=Pod"),
        ({**answered(), "response": None}, "no response provided"),
        (answered(uid="w"), 'expected response.uid="u", got "w"'),
        (answered(result={"status": "Failure", "message": "no"}), "^no$"),
        (answered(result={"status": "Failure"}), "response.result.status was 'Failure', not 'Success'"),
        (answered(), "response.result.status was '', not 'Success'"),
    ],
)
def test_answers_that_are_refused(answer: Object, why: str) -> None:
    with pytest.raises(ConversionFailed, match=why):
        review.objects_of_response("v1", "u", answer)


def test_an_older_review_needs_no_uid() -> None:
    made = {"response": {"result": {"status": "Success"}, "convertedObjects": []}}
    assert review.objects_of_response("v1beta1", "u", made) == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"apiVersion": "e.com/v3"}, "invalid groupVersion (expected e.com/v2, received e.com/v3)"),
        ({"kind": "Other"}, "invalid kind (expected Thing, received Other)"),
        ({"metadata": {"name": "b", "uid": "u"}}, "must have the same name: a != b"),
        ({"metadata": {"name": "a", "uid": "w"}}, "must have the same UID: u != w"),
        ({"metadata": None}, "must have the same name: a != "),
    ],
)
def test_what_a_webhook_may_not_change(change: Object, why: str) -> None:
    found = mismatch(OBJECT, {**OBJECT, "apiVersion": "e.com/v2", **change}, "e.com/v2")
    assert found.endswith(why) and bool(found) is bool(why)


def test_metadata_is_the_servers_but_for_labels_and_annotations() -> None:
    given = {**OBJECT, "metadata": {"name": "a", "uid": "u", "labels": {"x": "9"}, "generation": 7}}
    assert restore_metadata(OBJECT, given, KIND)["metadata"] == {
        "name": "a",
        "uid": "u",
        "labels": {"x": "9"},
        "generation": 3,
    }
    wrong = ((None, "missing metadata"), ("x", "invalid metadata of type"), ({"labels": {"x": 1}}, "labels"))
    for metadata, why in wrong:
        with pytest.raises(ConversionFailed, match=why):
            restore_metadata(OBJECT, {**OBJECT, "metadata": metadata}, KIND)


def test_an_error_status_is_shown_as_client_go_does() -> None:
    assert review.refusal({"kind": "Status", "message": "no"}, b"") == "no"
    assert review.refusal(None, b" oops ").startswith('an error on the server ("oops") has prevented')
    assert '("unknown")' in review.refusal({}, b"")
