"""Templates that mean the same (apimachinery `api/equality/semantic.go`)."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from hydrofoil.controllers.objects.fractions import scaled_value
from hydrofoil.controllers.objects.revisions import ControllerRevision, patch_of
from hydrofoil.controllers.objects.templates import PodTemplate, equal_ignoring_hash, equal_templates


def template(spec: Any, **metadata: Any) -> PodTemplate:
    """Return a template as it is decoded."""
    return msgspec.json.decode(json.dumps({"metadata": metadata, "spec": spec}), type=PodTemplate)


def limits(amount: Any, **more: Any) -> dict[str, Any]:
    """Return a spec with a limit."""
    return {"containers": [{"name": "c", "resources": {"limits": {"cpu": amount}}}], **more}


@pytest.mark.parametrize(
    ("left", "right", "is_equal"),
    [
        (limits("1"), limits("1"), True),
        (limits("1"), limits("1000m"), True),
        (limits("1"), limits(1), True),
        (limits("1"), limits("1001m"), False),
        (limits("1", overhead={"memory": "1Gi"}), limits("1", overhead={"memory": "1024Mi"}), True),
        ({"volumes": [{"emptyDir": {"sizeLimit": "1k"}}]}, {"volumes": [{"emptyDir": {"sizeLimit": "1000"}}]}, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1, "b": None}, {"a": 1}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        # Other texts are no quantities.
        ({"nodeSelector": {"n": "1"}}, {"nodeSelector": {"n": "1000m"}}, False),
    ],
)
def test_specs(left: Any, right: Any, is_equal: bool) -> None:
    assert equal_templates(template(left), template(right)) is is_equal


def test_the_hash_among_the_labels_does_not_count() -> None:
    left = template({}, labels={"a": "b", "pod-template-hash": "x"}, annotations={})
    right = template({}, labels={"a": "b"}, creationTimestamp=None)
    assert equal_ignoring_hash(left, right) and not equal_templates(left, right)
    assert not equal_ignoring_hash(left, template({}, labels={"a": "c"}))
    assert not equal_ignoring_hash(left, template({}, labels={"a": "b"}, annotations={"n": "x"}))


def test_a_revision_restores_its_template() -> None:
    given = template(limits("1"), labels={"a": "b"})
    stored = json.dumps({"metadata": {"name": "r"}, "revision": 1, "data": json.loads(patch_of(given))}).encode()
    found = msgspec.json.decode(stored, type=ControllerRevision)
    assert found.restores(given) and found.template.labels == {"a": "b"}
    assert found.restores(template(limits("1000m"), labels={"a": "b"}))
    assert not found.restores(template(limits("2"), labels={"a": "b"}))


def test_the_data_of_a_revision_is_sorted() -> None:
    data = patch_of(template({"b": 1, "a": {"d": 1, "c": 2}}, labels={"b": "1", "a": "2"})).decode()
    assert data == json.dumps(json.loads(data), sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize("data", ["null", "[]", '"x"', "{}", '{"spec": []}', '{"spec": {"template": 1}}'])
def test_data_of_others_restores_nothing(data: str) -> None:
    stored = f'{{"metadata": {{"name": "r"}}, "data": {data}}}'
    found = msgspec.json.decode(stored, type=ControllerRevision)
    assert found.template.labels == {} and not found.restores(template(limits("1")))


@pytest.mark.parametrize(
    ("value", "total", "up", "down"),
    [(3, 10, 3, 3), ("25%", 10, 3, 2), ("25%", 4, 1, 1), ("0%", 10, 0, 0), ("100%", 7, 7, 7), ("1%", 1, 1, 0)],
)
def test_shares(value: int | str, total: int, up: int, down: int) -> None:
    assert scaled_value(value, total, rounds_up=True) == up
    assert scaled_value(value, total, rounds_up=False) == down


@pytest.mark.parametrize("text", ["", "10", "x%", "ten"])
def test_other_texts_are_no_shares(text: str) -> None:
    with pytest.raises(ValueError):
        scaled_value(text, 10, rounds_up=True)
