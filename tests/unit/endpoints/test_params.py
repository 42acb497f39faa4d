"""Query parameters, and upstream's texts for invalid ones."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.endpoints.params import integer, list_options, parse, revision, split_list, timeout, truth, write_options
from hydrofoil.errors import ApiError


def refused(call: Any, *given: Any, **named: Any) -> ApiError:
    """The failure of a call."""
    with pytest.raises(ApiError) as found:
        call(*given, **named)
    return found.value


def causes(error: ApiError) -> list[tuple[str, str]]:
    """Field and text of the causes."""
    assert error.details
    return [(cause["field"], cause["message"]) for cause in error.details["causes"]]


def test_the_first_value_of_a_parameter_counts_and_all_of_dry_run() -> None:
    found = parse("a=1&a=2&dryRun=All&dryRun=x,y&b=")
    assert (found["a"], found["b"], split_list(found, "dryRun")) == ("1", "", ["All", "x,y"])
    assert parse("") == {}
    assert split_list(parse("dryRun="), "dryRun") == split_list({}, "dryRun") == []


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("true", True), ("", True), ("yes", True), ("false", False), ("0", False), ("FALSE", False), ("F", True)],
)
def test_a_boolean_holds_unless_it_is_false(value: str, wanted: bool) -> None:
    assert truth({"watch": value}, "watch") is wanted
    assert not truth({}, "watch")


def test_numbers_are_those_of_go() -> None:
    assert integer({"limit": "-5"}, "limit") == -5
    assert integer({"limit": "+07"}, "limit") == 7
    assert integer({}, "limit") is None
    assert integer({"limit": str(2**63 - 1)}, "limit") == 2**63 - 1
    syntax, much = "invalid syntax", "value out of range"
    for value, why in (("x", syntax), ("", syntax), ("٣", syntax), (str(2**63), much)):
        error = refused(integer, {"limit": value}, "limit")
        assert (error.code, error.message) == (400, f'strconv.ParseInt: parsing "{value}": {why}')


def test_a_number_of_any_length_costs_nothing() -> None:
    assert refused(integer, {"limit": "9" * 100_000}, "limit").message.endswith("value out of range")
    assert refused(revision, "9" * 100_000).message.endswith("value out of range")


def test_a_resource_version_is_an_unsigned_number() -> None:
    assert revision("18446744073709551615") == 2**64 - 1
    syntax, much = "invalid syntax", "value out of range"
    for version, why in (("18446744073709551616", much), ("-1", syntax), ("abc", syntax)):
        error = refused(revision, version)
        assert error.code == 400
        assert error.message.endswith(f'strconv.ParseUint: parsing "{version}": {why}')


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("resourceVersionMatch=Exact", [("resourceVersionMatch", "is forbidden unless resourceVersion is provided")]),
        ("resourceVersionMatch=Exact&resourceVersion=0", [("resourceVersionMatch", '"exact" is forbidden for')]),
        ("resourceVersionMatch=Best&resourceVersion=5", [("resourceVersionMatch", 'Unsupported value: "Best"')]),
        ("sendInitialEvents=true", [("sendInitialEvents", "is forbidden for list")]),
        (
            "continue=x&resourceVersionMatch=NotOlderThan&resourceVersion=5",
            [("resourceVersionMatch", "is forbidden when continue is provided")],
        ),
    ],
)
def test_options_of_a_list_that_exclude_each_other(query: str, wanted: list[tuple[str, str]]) -> None:
    """RV-15 to RV-26."""
    found = causes(refused(list_options, parse(query), watch=False))
    assert [field for field, _ in found] == [field for field, _ in wanted]
    assert all(text in message for (_, text), (_, message) in zip(wanted, found, strict=True))


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("sendInitialEvents=true", ["sendInitialEvents requires setting resourceVersionMatch"]),
        ("resourceVersionMatch=NotOlderThan", ["is forbidden for watch unless sendInitialEvents is provided"]),
        ("continue=x", ["is forbidden when continue is provided"]),
    ],
)
def test_options_of_a_watch_that_exclude_each_other(query: str, texts: list[str]) -> None:
    """WA-21, WA-24."""
    found = causes(refused(list_options, parse(query), watch=True))
    assert [text for (_, message), text in zip(found, texts, strict=True) if text in message] == texts


def test_what_a_list_is_asked_for() -> None:
    options = list_options(parse("limit=5&labelSelector=a%3Db&resourceVersion=7&timeoutSeconds=3"), watch=False)
    assert (options.limit, options.labels, options.revision, options.timeout) == (5, "a=b", 7, 3)


TOKEN = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJkZWZhdWx0L2EifQ"


@pytest.mark.parametrize("version", ["7", "x", "00"])
def test_a_continue_token_is_read_before_the_version_beside_it(version: str) -> None:
    error = refused(list_options, parse(f"continue={TOKEN}&resourceVersion={version}"), watch=False)
    assert error.message == "specifying resource version is not allowed when using continue"
    error = refused(list_options, parse(f"continue=x&resourceVersion={version}"), watch=False)
    text = "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"
    assert error.message == text
    assert list_options(parse(f"continue={TOKEN}&resourceVersion=0"), watch=False).revision == 0


def test_selectors_that_cannot_be_read_are_reported_before_other_causes() -> None:
    def unreadable(_: object) -> None:
        raise ApiError(400, "BadRequest", "a selector")

    error = refused(list_options, parse("sendInitialEvents=true"), watch=False, selectors=unreadable)
    assert error.message == "a selector"


@pytest.mark.parametrize(
    ("query", "patch", "field"),
    [
        ("dryRun=Some", "", "dryRun"),
        ("fieldValidation=Loose", "", "fieldValidation"),
        ("fieldManager=" + "a" * 129, "", "fieldManager"),
        ("fieldManager=a%00b", "", "fieldManager"),
        ("force=true", "merge", "force"),
        ("", "apply", "fieldManager"),
    ],
)
def test_options_of_a_write_that_are_invalid(query: str, patch: str, field: str) -> None:
    """DRY-06, DRY-07, FV-10."""
    error = refused(write_options, parse(query), "UpdateOptions", patch=patch)
    assert error.code == 422
    assert [found for found, _ in causes(error)] == [field]


def test_what_a_write_is_asked_for() -> None:
    options = write_options(parse("dryRun=All&fieldManager=me"), "CreateOptions")
    assert (options.dry_run, options.field_manager, options.field_validation) == (True, "me", "Warn")
    assert write_options({}, "CreateOptions").dry_run is False
    assert write_options(parse("force=true&fieldManager=me"), "PatchOptions", patch="apply").field_manager == "me"


def test_a_timeout_is_a_duration() -> None:
    assert timeout(parse("timeout=1m30s")) == 90.0
    assert timeout(parse("timeout=0s")) is timeout(parse("timeout=-1s")) is timeout({}) is None
    assert refused(timeout, parse("timeout=5")).message.endswith('time: missing unit in duration "5"')
    assert refused(timeout, parse("timeout=5x")).message.endswith('time: unknown unit "x" in duration "5x"')
    assert refused(timeout, parse("timeout=x")).message.endswith('time: invalid duration "x"')
