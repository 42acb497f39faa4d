"""The audit record of one request."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from hydrofoil import errors
from hydrofoil.audit.event import AuditEvent
from hydrofoil.audit.level import COMPLETE, METADATA, RECEIVED, REQUEST, RESPONSE
from hydrofoil.request import ALLOWED, User, Verdict
from tests.unit.audit.events import RECEIVED_AT, event

STAGE_AT = RECEIVED_AT + 1_000


def shown(made: AuditEvent, stage: str = COMPLETE, code: int = 200, *, truncated: bool = False) -> Any:
    line = made.encoded(stage, code, STAGE_AT, truncated=truncated)
    assert len(line.decode().splitlines()) == 1, "an event is one line for every reader"
    return json.loads(line)


def test_the_first_value_of_an_annotation_stays(caplog: pytest.LogCaptureFixture) -> None:
    made = event()
    made.annotate("k", "one")
    made.annotate("k", "one")
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        made.annotate("k", "two")
    assert made.annotations == {"k": "one"}
    assert "set twice" in caplog.text


def test_a_request_is_described() -> None:
    made = event("/apis/apps/v1/namespaces/n/deployments/d/scale?x=1", agent="tester/1")
    assert shown(made, RECEIVED, 0) == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "a",
        "stage": "RequestReceived",
        "requestURI": "/apis/apps/v1/namespaces/n/deployments/d/scale?x=1",
        "verb": "get",
        "user": {"username": "ann", "uid": "7", "groups": ["g"], "extra": {"scopes": ["a", "b"]}},
        "sourceIPs": ["192.0.2.1"],
        "userAgent": "tester/1",
        "objectRef": {
            "resource": "deployments",
            "namespace": "n",
            "name": "d",
            "apiGroup": "apps",
            "apiVersion": "v1",
            "subresource": "scale",
        },
        "requestReceivedTimestamp": "2026-01-02T03:04:05.000006Z",
        "stageTimestamp": "2026-01-02T03:04:05.000007Z",
    }


def test_the_body_completes_the_reference_after_the_first_stage() -> None:
    made = event("/api/v1/namespaces/n/pods", "POST")
    assert "name" not in shown(made, RECEIVED, 0)["objectRef"]
    made.sent("p", "other", "u", "7")
    reference = shown(made, code=201)["objectRef"]
    assert reference["name"] == "p" and reference["namespace"] == "n"
    assert reference["uid"] == "u" and reference["resourceVersion"] == "7"


def test_requests_without_a_resource_have_no_reference() -> None:
    assert "objectRef" not in shown(event("/version"))


def test_the_decision_is_annotated() -> None:
    made = event()
    made.verdict = ALLOWED
    notes = {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""}
    assert shown(made)["annotations"] == notes
    made.annotate("k", "v")
    assert shown(made)["annotations"] == notes | {"k": "v"}
    made.verdict = Verdict(reason="no")
    notes = {"authorization.k8s.io/decision": "forbid", "authorization.k8s.io/reason": "no", "k": "v"}
    assert shown(made)["annotations"] == notes
    made.verdict = Verdict(error="broken")
    assert shown(made)["annotations"] == {"authorization.k8s.io/reason": "internal error", "k": "v"}


def test_the_answer_is_recorded_by_level() -> None:
    body = b'{"kind":"Pod","metadata":{"name":"p"}}\n'
    for level, kept in ((METADATA, 0), (REQUEST, 1), (RESPONSE, 2)):
        made = event(level=level)
        if made.wants_request:
            made.requested(body)
        made.responded(body)
        found = shown(made)
        assert ("requestObject" in found, "responseObject" in found) == (kept > 0, kept > 1)
        assert found["responseStatus"] == {"metadata": {}, "code": 200}


def test_an_error_is_recorded_with_its_status() -> None:
    made = event(level=RESPONSE)
    made.refused(errors.not_found("", "pods", "p"))
    found = shown(made, code=404)
    status: dict[str, Any] = {
        "metadata": {},
        "status": "Failure",
        "message": 'pods "p" not found',
        "reason": "NotFound",
    }
    status |= {"details": {"name": "p", "kind": "pods"}, "code": 404}
    assert found["responseStatus"] == status
    assert found["responseObject"] == status | {"kind": "Status", "apiVersion": "v1"}


def test_a_fault_is_recorded_without_its_text() -> None:
    made = event(level=RESPONSE)
    made.panicked(RuntimeError("secret"))
    status = shown(made, "Panic", 500)["responseStatus"]
    assert status["reason"] == "InternalError" and status["code"] == 500
    assert status["message"] == "APIServer panic'd: RuntimeError"


def test_managed_fields_are_left_out_everywhere() -> None:
    meta = '{"name":"p","managedFields":[{"manager":"m"}]}'
    places: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        (f'{{"kind":"Pod","metadata":{meta}}}', lambda o: o),
        (f'{{"kind":"PodList","metadata":{{}},"items":[{{"metadata":{meta}}}]}}', lambda o: o["items"][0]),
        (f'{{"kind":"Table","rows":[{{"object":{{"metadata":{meta}}}}}]}}', lambda o: o["rows"][0]["object"]),
    )
    for body, place in places:
        made = event(level=RESPONSE, omits_managed=True)
        made.responded(body.encode())
        assert place(shown(made)["responseObject"])["metadata"] == {"name": "p"}
        made = event(level=RESPONSE)
        made.responded(body.encode())
        assert "managedFields" in place(shown(made)["responseObject"])["metadata"]


def test_no_level_records_a_token() -> None:
    made = event("/api/v1/namespaces/n/serviceaccounts/s/token", "POST", level=RESPONSE)
    made.responded(b'{"kind":"TokenRequest","status":{"token":"abc","expirationTimestamp":null}}')
    assert shown(made)["responseObject"]["status"] == {"token": "", "expirationTimestamp": None}
    made = event("/apis/authentication.k8s.io/v1/tokenreviews", "POST", level=RESPONSE)
    made.requested(b'{"kind":"TokenReview","spec":{"token":"abc"}}')
    made.responded(b'{"kind":"TokenReview","spec":{"token":"abc"}}')
    assert b"abc" not in made.encoded(COMPLETE, 201, STAGE_AT)


@pytest.mark.parametrize(
    "ill", ["\n", "\r\n", "\x00", "\x1b[2J", "\x7f", "\x85", "\u2028", "\u2029", "\udce9", '"', "\\"]
)
def test_whatever_a_client_sends_stays_in_its_place(ill: str) -> None:
    """Control characters, line breaks of other alphabets, and bytes that are no text."""
    sent = f"x{ill}y"
    user = User(sent, groups=(sent,), extra={sent: (sent,)})
    made = event(f"/api/v1/namespaces/{sent}/pods/{sent}", "POST", user=user, agent=sent, id=sent, level=RESPONSE)
    made.sent(sent, sent, sent, sent)
    made.annotate(sent, sent)
    made.verdict = Verdict(reason=sent)
    made.acts_as(user, sent)
    made.requested(json.dumps({"a": sent}, ensure_ascii=ill == "\udce9").encode())
    found = shown(made)
    assert found["user"]["username"].startswith("x") and found["verb"] == "create"
    if ill != "\udce9":
        assert found["userAgent"] == found["annotations"][sent] == found["requestObject"]["a"] == sent


def test_an_unknown_method_stays_inside_its_quotes() -> None:
    assert shown(event("/x", 'A","b":"c'))["verb"] == 'a","b":"c'


def test_objects_can_be_left_out() -> None:
    made = event(level=RESPONSE)
    made.requested(b"{}")
    made.responded(b"{}")
    found = shown(made, truncated=True)
    assert "requestObject" not in found and "responseObject" not in found
    assert found["annotations"] == {"audit.k8s.io/truncated": "true"}


def test_a_request_of_an_unknown_user_has_an_empty_one() -> None:
    assert shown(event(user=None))["user"] == {}


def test_the_user_acted_as_is_recorded() -> None:
    made = event()
    made.acts_as(User("bob", groups=("h",)), "impersonate:user-info")
    found = shown(made)
    assert found["impersonatedUser"] == {"username": "bob", "groups": ["h"]}
    assert found["authenticationMetadata"] == {"impersonationConstraint": "impersonate:user-info"}
