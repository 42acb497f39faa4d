"""Custom resources read back as they were written, in every version (CRD-35: conversion `None`)."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrofoil.apiextensions.resources import resources
from hydrofoil.apis.catalog import Catalog
from tests.shards import CLOCK, Kept

CATALOG = Catalog()
START = 1000
Object = dict[str, Any]
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
values: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | texts | st.floats(-1e15, 1e15),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)


def definition() -> Object:
    """Two versions of a kind: `any` is open, `n` is typed."""
    properties = {"any": {"x-kubernetes-preserve-unknown-fields": True}, "n": {"type": "integer", "default": 3}}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}}
        for name in ("v1", "v2")
    ]
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    conditions = [{"type": "Established", "status": "True"}]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.e.com", "uid": "u"},
        "spec": {"group": "e.com", "scope": "Cluster", "names": names, "versions": versions},
        "status": {"acceptedNames": names, "conditions": conditions},
    }


@settings(max_examples=150, deadline=None)
@given(spec=st.fixed_dictionaries({"any": values}, optional={"n": st.integers(-9, 9)}))
def test_custom_resources_read_back_equal_in_all_versions(spec: Object) -> None:
    """The versions differ in `apiVersion` alone, whichever an object is written in."""
    definitions, shard = Kept(START), Kept(START)
    kinds = CATALOG.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    assert kinds is not None
    made = definitions.create(kinds.native.decode(orjson.dumps(definition()), "json")[0])
    natives = dict(CATALOG.native.custom(made))
    served = {r.version: r.native for r in resources(orjson.loads(made.json), natives, None)}
    for written in ("v1", "v2"):
        body = {"apiVersion": f"e.com/{written}", "kind": "Thing", "metadata": {"name": written, "uid": "u"}}
        draft, strict = served[written].decode(orjson.dumps(body | {"spec": spec}), "json")
        assert strict == []
        version = shard.create(draft)
        wanted = {"n": 3} | spec
        for shown in ("v1", "v2"):
            found = shard.shard.get(served[shown], "", version.name)
            assert found is not None
            read = orjson.loads(found.body("json", CLOCK))
            assert read["apiVersion"] == f"e.com/{shown}"
            assert read["spec"] == wanted
