"""Client-go's error texts, and when a review is tried again (client-go `rest/request_test.go`)."""

from __future__ import annotations

import json

import pytest

from hydrofoil.clock import Chance
from hydrofoil.outbound.review import (
    AUTHENTICATION,
    AUTHORIZATION,
    GENERIC,
    Backoff,
    Rule,
    response_failure,
    retry_after,
    server_error,
)
from hydrofoil.outbound.target import Reply

STATUS = {"kind": "Status", "status": "Failure", "message": "no"}


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(403, json.dumps(STATUS).encode(), "application/json"), "no"),
        (Reply(403, b" not you ", "text/plain"), "not you"),
        (Reply(403, b"not you", "application/json"), "unknown"),
        (Reply(404, b"oops", "text/plain"), GENERIC[404][1]),
        (Reply(500, b" oops ", "text/plain"), server_error("oops")),
        (Reply(599, b"oops", "application/json"), server_error("unknown")),
        (Reply(418, b""), "the server responded with the status code 418 but did not return more information"),
    ],
)
def test_answers_have_the_words_of_client_go(reply: Reply, text: str) -> None:
    assert response_failure(reply) == text


@pytest.mark.parametrize(
    ("status", "given", "seconds"),
    [(429, "3", 3), (503, "0", 0), (503, "", None), (429, "soon", None), (404, "3", None), (500, "1" * 10, None)],
)
def test_an_answer_asks_to_be_called_again(status: int, given: str, seconds: int | None) -> None:
    assert retry_after(Reply(status, b"", retry_after=given)) == seconds


@pytest.mark.parametrize(
    ("rule", "reply", "again"),
    [
        (AUTHENTICATION, Reply(500, b""), True),
        (AUTHENTICATION, Reply(503, b""), False),
        (AUTHENTICATION, Reply(503, b"", retry_after="1"), True),
        (AUTHENTICATION, Reply(503, b"", retry_after="soon"), False),
        (AUTHORIZATION, Reply(500, b"", retry_after="1"), False),
        (AUTHORIZATION, Reply(429, b""), True),
        (AUTHORIZATION, Reply(503, b"", retry_after="soon"), True),
        (AUTHORIZATION, Reply(504, b""), True),
    ],
)
def test_rules_differ_by_client(rule: Rule, reply: Reply, again: bool) -> None:
    failure = rule.failure(reply, None)
    assert failure.again is again and failure.late is (reply.status == 504)


def test_the_message_of_a_status_is_passed_on() -> None:
    assert str(AUTHENTICATION.failure(Reply(401, b""), STATUS)) == "no"
    assert str(AUTHENTICATION.failure(Reply(401, b""), {"message": "no"})) == "an error on the server: status 401"
    assert str(AUTHORIZATION.failure(Reply(401, b""), {**STATUS, "message": "n" * 2000})) == "n" * 1000


def test_pauses_grow_and_end() -> None:
    assert [*Backoff().pauses()] == [0.5, 0.75, 1.125, 1.6875, None]
    assert 1.0 <= Backoff(jitter=0.2).stretch(1.0, Chance(1)) <= 1.2
