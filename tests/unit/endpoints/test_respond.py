"""Answers: their form, their headers, and the form of a failure."""

from __future__ import annotations

import gzip
import json

import pytest

from hydrofoil import engine
from hydrofoil.answer import Answer
from hydrofoil.apiextensions.review import ConversionFailed
from hydrofoil.endpoints import respond
from hydrofoil.endpoints.negotiate import PLAIN, negotiate
from hydrofoil.errors import ApiError, forbidden
from hydrofoil.request import User, attributes, refusal
from tests.contract.requests import requested
from tests.unit.parts import resource

BODY = b'{"kind":"Status","apiVersion":"v1","metadata":{}}'


def test_warnings_are_quoted_and_stand_once() -> None:
    assert respond.warning_values(['a "b" \\', 'a "b" \\', "c\n"]) == [r'299 - "a \"b\" \\"', '299 - "c"']
    assert respond.warning_lines([]) == b""
    assert respond.warning_lines(["w"]) == b'Warning: 299 - "w"\r\n'


def test_many_warnings_are_cut() -> None:
    """As `filters/warning.go`: over 4096 characters each is cut to 256, and no more come after 4096 of those."""
    many = [f"{i:04}" + "x" * 996 for i in range(40)]
    found = respond.warning_values(many)
    assert len(found) == 16
    assert {len(warning) for warning in found} == {256 + len('299 - ""')}
    assert len(respond.warning_values(many[:4])) == 4


@pytest.mark.parametrize(
    ("target", "agent", "pretty"),
    [
        ("/api", "curl/8", True),
        ("/api", "Go-http-client/1.1", False),
        ("/api?pretty=1", "Go-http-client/1.1", True),
        ("/api?pretty=0", "curl/8", False),
    ],
)
def test_people_get_indented_json(target: str, agent: str, pretty: bool) -> None:
    context = requested("GET", target, {"User-Agent": agent})
    given = target.partition("pretty=")[2] or None
    assert respond.read_by_people(context, given, PLAIN) is pretty


def test_a_large_answer_is_compressed_for_a_client_that_accepts_gzip() -> None:
    """CP-01: from 128 KiB on, and only for the bare token."""
    large = b"x" * (respond.GZIP_ABOVE + 1)
    plain = respond.compress(requested("GET", "/api"), Answer(200, b"", large))
    assert plain.body == large
    packed = respond.compress(requested("GET", "/api", {"Accept-Encoding": "br, gzip"}), Answer(200, b"", large))
    assert gzip.decompress(packed.body) == large
    assert packed.head == respond.GZIPPED
    small = respond.compress(requested("GET", "/api", {"Accept-Encoding": "gzip"}), Answer(200, b"", large[1:]))
    assert small.head == b""
    with_quality = requested("GET", "/api", {"Accept-Encoding": "gzip;q=1.0"})
    assert not respond.wants_gzip(with_quality)


def test_a_body_in_each_media_type() -> None:
    assert respond.encode(BODY, PLAIN, pretty=False) == BODY + b"\n"
    assert respond.encode(BODY, PLAIN, pretty=True).startswith(b'{\n  "kind"')
    assert respond.encode(BODY, negotiate("application/yaml"), pretty=False).startswith(b"apiVersion: v1\n")
    packed = respond.encode(BODY, negotiate("application/cbor", cbor=True), pretty=False)
    assert json.loads(engine.cbor_to_json(packed)) == json.loads(BODY)


def test_texts_of_a_failure_are_escaped_as_go_does() -> None:
    body = respond.status_body(ApiError(400, "BadRequest", "<a & b>"))
    assert b"\\u003ca \\u0026 b\\u003e" in body


def test_a_failure_names_its_media_type_and_lines() -> None:
    context = requested("GET", "/api/v1/pods", {"Accept": "application/yaml"})
    context.common = b"Audit-Id: x\r\n"
    context.warnings = ["before"]
    found = respond.answer_error(context, ApiError(429, "TooManyRequests", "later", {}, retry_after=3))
    assert found.status == 429
    assert found.head == (
        b'Audit-Id: x\r\nWarning: 299 - "before"\r\nRetry-After: 3\r\nContent-Type: application/yaml\r\n'
    )
    refused = refusal(User("u"), attributes("get", "", "pods", name="a"), "")
    assert respond.error_lines(refused) == b"X-Content-Type-Options: nosniff\r\n"
    assert respond.error_lines(forbidden("", "pods", "a", "why")) == b""


def test_a_client_that_accepts_nothing_gets_indented_json() -> None:
    context = requested("GET", "/api/v1/pods", {"Accept": "text/html"})
    found = respond.answer_error(context, ApiError(406, "NotAcceptable", "x"))
    assert found.body.startswith(b"{\n") and b"Content-Type: application/json\r\n" in found.head


def test_a_fault_shows_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    found = respond.failure(requested("GET", "/api"), RuntimeError("a secret"))
    assert found.status == 500
    assert b"a secret" not in found.body
    assert "a secret" in caplog.text


def test_lists_wait_for_objects_that_cannot_be_converted() -> None:
    """Upstream's watch cache does not come up then: 429, while a GET is 500."""
    context = requested("GET", "/apis/e.com/v1/things")
    context.resource, context.verb = resource("pods"), "list"
    listed = json.loads(respond.failure(context, ConversionFailed("no webhook")).body)
    assert (listed["code"], listed["message"]) == (
        429,
        "storage is (re)initializing: failed to list v1, Kind=Pod: no webhook",
    )
    context.verb = "get"
    assert json.loads(respond.failure(context, ConversionFailed("no webhook")).body)["code"] == 500


def test_the_native_form_of_an_answer() -> None:
    context = requested("GET", "/api/v1/pods/a")
    for accept, wanted in (
        ("application/json", "json"),
        ("application/vnd.kubernetes.protobuf", "protobuf"),
        ("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "json:metadata:v1"),
        ("application/json;as=Table;g=meta.k8s.io;v=v1", "json:table:v1:Metadata"),
    ):
        context.accepted = negotiate(accept)
        assert respond.form(context) == wanted
    context.params = {"includeObject": "Some"}
    with pytest.raises(ApiError, match="Unable to convert to Table as requested"):
        respond.form(context)


@pytest.mark.parametrize(
    ("form", "in_json"),
    [
        ("json", "json"),
        ("protobuf", "json"),
        ("cbor:metadata:v1", "json:metadata:v1"),
        ("json:table:v1:None", "json:table:v1:None"),
    ],
)
def test_a_form_has_its_like_in_json(form: str, in_json: str) -> None:
    made = respond.Form(form)
    assert made.in_json == in_json
    assert (made.is_object, made.is_table) == (form in ("json", "protobuf"), "table" in form)
