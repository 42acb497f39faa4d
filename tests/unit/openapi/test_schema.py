"""Published schemas of custom resources."""

from __future__ import annotations

from hydrofoil.openapi.schema import META, model_name, reference, references, resource, resource_list


def test_names_and_references() -> None:
    assert model_name("e.com", "v1", "Thing") == "com.e.v1.Thing"
    assert reference("A", v2=True) == {"$ref": "#/definitions/A"}
    assert reference("A", v2=False, description="d") == {
        "allOf": [{"$ref": "#/components/schemas/A"}],
        "description": "d",
    }
    assert references({"a": [reference("A", v2=False)], "b": reference("B", v2=True)}) == ["A", "B"]


def test_every_kind_has_its_type_and_metadata() -> None:
    made = resource({"type": "object", "properties": {"spec": {"type": "object"}}}, "e.com", "v1", "Thing", v2=False)
    assert set(made["properties"]) == {"spec", "apiVersion", "kind", "metadata"}
    assert made["x-kubernetes-group-version-kind"] == [{"group": "e.com", "kind": "Thing", "version": "v1"}]


def test_v2_holds_what_kubectl_can_read() -> None:
    """CRD-48: alternatives, nullable values and lists without items are left out."""
    schema = {
        "type": "object",
        "required": ["a", "b"],
        "properties": {
            "a": {"type": "string", "nullable": True},
            "b": {"type": "string", "oneOf": [{"minLength": 1}]},
            "c": {"x-kubernetes-preserve-unknown-fields": True, "type": "object", "properties": {"d": {}}},
        },
    }
    properties = resource(schema, "e.com", "v1", "Thing", v2=True)["properties"]
    assert properties["a"] == {}
    assert properties["b"] == {"type": "string"}
    assert properties["c"] == {"x-kubernetes-preserve-unknown-fields": True}
    assert resource(schema, "e.com", "v1", "Thing", v2=True)["required"] == ["b"]
    assert resource(schema, "e.com", "v1", "Thing", v2=False)["properties"]["a"]["nullable"] is True
    assert "properties" not in resource(schema, "e.com", "v1", "Thing", v2=True, preserve=True)


def test_integers_or_texts_say_so_in_the_words_of_openapi() -> None:
    either = [{"type": "integer"}, {"type": "string"}]
    made = resource({"properties": {"a": {"x-kubernetes-int-or-string": True}}}, "e.com", "v1", "Thing", v2=False)
    assert made["properties"]["a"]["anyOf"] == either
    given = {"properties": {"a": {"x-kubernetes-int-or-string": True, "anyOf": [{"minimum": 1}]}}}
    made = resource(given, "e.com", "v1", "Thing", v2=False)
    assert made["properties"]["a"]["allOf"] == [{"anyOf": either}]


def test_embedded_resources_have_a_type() -> None:
    given = {"properties": {"a": {"type": "object", "x-kubernetes-embedded-resource": True}}}
    inner = resource(given, "e.com", "v1", "Thing", v2=False)["properties"]["a"]
    assert inner["required"] == ["kind", "apiVersion"] and "metadata" in inner["properties"]


def test_lists() -> None:
    made = resource_list("e.com", "v1", "Thing", "ThingList", "things", v2=False)
    assert made["required"] == ["items"]
    assert made["properties"]["metadata"]["allOf"] == [{"$ref": f"#/components/schemas/{META}.ListMeta"}]
