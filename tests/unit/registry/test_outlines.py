"""Definitions without their schemas."""

from __future__ import annotations

import orjson
import pytest

from hydrofoil.engine import Stored
from hydrofoil.pace.sizes import LARGE
from hydrofoil.registry.outlines import KEPT, Outlines
from tests.unit.parts import draft, resource


def stored(size: int) -> Stored:
    """Return a definition with a description of a size."""
    schema = {"openAPIV3Schema": {"type": "object", "description": "d" * size}}
    versions = [{"name": "v1", "served": True, "storage": True, "schema": schema}]
    names = {"plural": "things", "kind": "Thing"}
    body = {"metadata": {"name": "things.e.com"}, "spec": {"group": "e.com", "names": names, "versions": versions}}
    made = draft(resource("customresourcedefinitions", "apiextensions.k8s.io"), body)
    made.set_type()
    return made.preview(1)


@pytest.mark.parametrize("size", [1, LARGE])
def test_an_outline_has_everything_but_the_schemas(size: int) -> None:
    one = stored(size)
    whole = orjson.loads(one.json)
    for version in whole["spec"]["versions"]:
        del version["schema"]
    outlines = Outlines()
    assert outlines.of(one) == outlines.of(one) == whole
    assert orjson.loads(one.member("spec") or b"")["versions"][0]["schema"]
    assert one.member("absent") is None


def test_outlines_of_large_ones_are_made_once_and_few_are_kept() -> None:
    outlines, one = Outlines(), stored(LARGE)
    found = outlines.of(one)
    assert outlines.of(one) is found
    for _ in range(KEPT):
        outlines.of(stored(LARGE))
    assert outlines.of(one) is not found
