"""OpenAPI v2 documents of services, merged into ours."""

from __future__ import annotations

from typing import Any

from hydrofoil.openapi.merge import PREFIX, merge_paths

Object = dict[str, Any]


def document(schema: Object) -> Object:
    """A document of two paths and a definition that refers to another."""
    shown = {"get": {"schema": {"$ref": f"{PREFIX}Thing"}}}
    return {
        "paths": {"/apis/e.com/v1/things": shown, "/apis/f.com/v1/things": shown},
        "definitions": {"Thing": schema, "Part": {"type": "string"}, "Unused": {"type": "object"}},
    }


THING: Object = {"properties": {"part": {"$ref": f"{PREFIX}Part"}}, "description": "a thing"}


def test_paths_of_the_service_and_what_they_refer_to_are_taken() -> None:
    paths, definitions = merge_paths(document(THING), "/apis/e.com/v1/", {})
    assert set(paths) == {"/apis/e.com/v1/things"}
    assert set(definitions) == {"Thing", "Part"}


def test_a_known_definition_of_the_same_meaning_is_kept() -> None:
    known = {"Thing": {**THING, "description": "another text"}, "Part": {"type": "string"}}
    _, definitions = merge_paths(document(THING), "/apis/e.com/v1/", known)
    assert definitions == {}


def test_a_definition_of_another_meaning_gets_another_name() -> None:
    known: Object = {"Part": {"type": "integer"}, "Part_v2": {"type": "number"}}
    paths, definitions = merge_paths(document(THING), "/apis/e.com/v1/", known)
    assert set(definitions) == {"Thing", "Part_v3"}
    assert definitions["Thing"]["properties"]["part"] == {"$ref": f"{PREFIX}Part_v3"}
    assert paths["/apis/e.com/v1/things"]["get"]["schema"] == {"$ref": f"{PREFIX}Thing"}


def test_definitions_that_refer_to_each_other_end() -> None:
    loop: Object = {"properties": {"self": {"$ref": f"{PREFIX}Thing"}}}
    _, definitions = merge_paths(document(loop), "/apis/e.com/v1/", {})
    assert set(definitions) == {"Thing"}
