//! Custom resources through the strategy of their definition (CRD-01 to CRD-48; the texts are kube-openapi's).

#![allow(missing_docs, reason = "each test says what it proves by its name")]

use hydrofoil_codec::json;
use hydrofoil_custom::{self as custom, Definition};
use hydrofoil_types::{Causes, Value};
use proptest::prelude::*;

fn parse(text: &str) -> Value {
    json::parse(text.as_bytes()).expect("json").value
}

/// Return a definition whose objects have a `spec` of these properties.
fn definition(properties: &str, more: &str) -> Definition {
    Definition::compile(&parse(&format!(
        r#"{{"spec":{{"group":"e.com","scope":"Namespaced","names":{{"plural":"things","kind":"Thing"}},
        "versions":[{{"name":"v1","served":true,"storage":true{more},"schema":{{"openAPIV3Schema":{{"type":"object","properties":{{
        "spec":{{"type":"object","properties":{{{properties}}}}},"status":{{"type":"object","properties":{{"n":{{"type":"integer"}}}}}}}}}}}}}}]}},
        "status":{{"acceptedNames":{{"plural":"things","kind":"Thing","listKind":"ThingList"}}}}}}"#
    )))
}

fn thing(spec: &str) -> Value {
    parse(&format!(
        r#"{{"apiVersion":"e.com/v1","kind":"Thing","metadata":{{"name":"a","namespace":"n","resourceVersion":"1"}},"spec":{spec}}}"#
    ))
}

fn decoded(of: &Definition, spec: &str) -> (Value, Vec<String>) {
    let mut object = thing(spec);
    let strict = custom::decode(of, &of.versions[0], &mut object, &|m| Ok((m.clone(), Vec::new()))).expect("decodes");
    (object, strict)
}

fn reported(causes: &Causes) -> Vec<String> {
    let mut out: Vec<_> =
        causes.as_slice().iter().map(|c| format!("{} {}: {}", c.reason.wire(), c.field, c.message)).collect();
    out.sort();
    out
}

fn created(of: &Definition, spec: &str) -> Vec<String> {
    let mut causes = Causes::new();
    custom::create(of, &of.versions[0], &thing(spec), None, &mut causes);
    reported(&causes)
}

fn updated(of: &Definition, old: &str, new: &str) -> Vec<String> {
    let mut causes = Causes::new();
    custom::update(of, &of.versions[0], "", &thing(new), &thing(old), None, &mut causes);
    reported(&causes)
}

#[test]
fn unknown_members_go_and_are_told() {
    let of = definition(
        r#""known":{"type":"string"},"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}}}},
        "keep":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"k":{"type":"object","properties":{"x":{"type":"string"}}}}},
        "map":{"type":"object","additionalProperties":{"type":"object","properties":{"b":{"type":"integer"}}}}"#,
        "",
    );
    let (object, strict) = decoded(
        &of,
        r#"{"known":"x","no":1,"list":[{"a":1,"z":2}],"keep":{"any":[{"deep":null}],"k":{"x":"1","y":2}},"map":{"m":{"b":1,"c":2}}}"#,
    );
    assert_eq!(
        object.get("spec").expect("spec").to_json(),
        r#"{"known":"x","list":[{"a":1}],"keep":{"any":[{"deep":null}],"k":{"x":"1"}},"map":{"m":{"b":1}}}"#
    );
    let paths = ["spec.keep.k.y", "spec.list[0].z", "spec.map.m.c", "spec.no"];
    assert_eq!(strict, paths.map(|p| format!("unknown field \"{p}\"")));
}

#[test]
fn nulls_and_defaults() {
    let of = definition(
        r#""a":{"type":"string","default":"x"},"b":{"type":"string"},"c":{"type":"string","nullable":true,"default":"y"},
        "tree":{"type":"object","default":{},"properties":{"leaf":{"type":"integer","default":7}}},
        "list":{"type":"array","items":{"type":"object","properties":{"z":{"type":"integer","default":1}}}},
        "gone":{"type":"object","default":{"unknown":1},"properties":{}}"#,
        "",
    );
    let (object, _) = decoded(&of, r#"{"a":null,"b":null,"c":null,"list":[{},{"z":2}]}"#);
    let spec = object.get("spec").expect("spec");
    assert_eq!(spec.get("a"), Some(&Value::from("x")));
    assert_eq!(spec.get("b"), None);
    assert_eq!(spec.get("c"), Some(&Value::Null));
    assert_eq!(spec.at(&["tree", "leaf"]), Some(&Value::Int(7)));
    assert_eq!(spec.get("list").expect("list").to_json(), r#"[{"z":1},{"z":2}]"#);
    assert_eq!(spec.get("gone"), Some(&Value::object()));
}

#[test]
fn every_keyword_has_upstreams_text() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            r#"{"type":"string"}"#,
            "5",
            &[
                "FieldValueTypeInvalid spec.p: Invalid value: \"integer\": spec.p in body must be of type string: \"integer\"",
            ],
        ),
        (
            r#"{"type":"string"}"#,
            "null",
            &["FieldValueTypeInvalid spec.p: Invalid value: \"null\": spec.p in body must be of type string: \"null\""],
        ),
        (
            r#"{"type":"integer"}"#,
            "2.5",
            &[
                "FieldValueInvalid <nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.p",
                "FieldValueTypeInvalid spec.p: Invalid value: \"number\": spec.p in body must be of type integer: \"number\"",
            ],
        ),
        (r#"{"type":"integer"}"#, "2.0", &[]),
        (r#"{"type":"number"}"#, "3", &[]),
        (
            r#"{"x-kubernetes-int-or-string":true}"#,
            "true",
            &[
                "FieldValueTypeInvalid spec.p: Invalid value: \"boolean\": spec.p in body must be of type integer,string: \"boolean\"",
            ],
        ),
        (
            r#"{"type":"string","format":"date"}"#,
            "\"soon\"",
            &["FieldValueTypeInvalid spec.p: Invalid value: \"soon\": spec.p in body must be of type date: \"soon\""],
        ),
        (
            r#"{"type":"string","format":"date"}"#,
            "5",
            &["FieldValueTypeInvalid spec.p: Invalid value: \"int64\": spec.p in body must be of type date: \"int64\""],
        ),
        (r#"{"type":"string","format":"made-up"}"#, "\"x\"", &[]),
        (
            r#"{"type":"integer","format":"int32"}"#,
            "3000000000",
            &[
                "FieldValueInvalid <nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.p",
            ],
        ),
        (
            r#"{"type":"string","minLength":2}"#,
            "\"é\"",
            &["FieldValueInvalid spec.p: Invalid value: \"é\": spec.p in body should be at least 2 chars long"],
        ),
        (
            r#"{"type":"string","maxLength":1}"#,
            "\"ab\"",
            &["FieldValueTooLong spec.p: Too long: may not be more than 1 bytes"],
        ),
        (
            r#"{"type":"string","pattern":"^a$"}"#,
            "\"b\"",
            &["FieldValueInvalid spec.p: Invalid value: \"b\": spec.p in body should match '^a$'"],
        ),
        (
            r#"{"type":"string","enum":["x","y"]}"#,
            "\"b\"",
            &["FieldValueNotSupported spec.p: Unsupported value: \"b\": supported values: \"x\", \"y\""],
        ),
        (
            r#"{"type":"integer","minimum":2,"exclusiveMinimum":true}"#,
            "2",
            &["FieldValueInvalid spec.p: Invalid value: 2: spec.p in body should be greater than 2"],
        ),
        (
            r#"{"type":"number","maximum":0.5}"#,
            "0.75",
            &["FieldValueInvalid spec.p: Invalid value: 0.75: spec.p in body should be less than or equal to 0.5"],
        ),
        (
            r#"{"type":"number","maximum":1234567.5}"#,
            "12345678.5",
            &[
                "FieldValueInvalid spec.p: Invalid value: 1.23456785e+07: spec.p in body should be less than or equal to 1.2345675e+06",
            ],
        ),
        (
            r#"{"type":"number","multipleOf":0.5}"#,
            "3",
            &["FieldValueInvalid spec.p: Invalid value: 0: factor MultipleOf declared for spec.p must be positive: 0"],
        ),
        (
            r#"{"type":"integer","maximum":0.5}"#,
            "3",
            &[
                "FieldValueInvalid <nil>: Invalid value: \"\": Maximum boundary value must be of type integer (default format) in spec.p",
                "FieldValueInvalid spec.p: Invalid value: 3: spec.p in body should be less than or equal to 0.5",
            ],
        ),
        (
            r#"{"type":"integer","multipleOf":2}"#,
            "3",
            &["FieldValueInvalid spec.p: Invalid value: 3: spec.p in body should be a multiple of 2"],
        ),
        (
            r#"{"type":"array","minItems":1,"items":{"type":"string"}}"#,
            "[]",
            &["FieldValueInvalid spec.p: Invalid value: 0: spec.p in body should have at least 1 items"],
        ),
        (
            r#"{"type":"array","maxItems":1,"items":{"type":"string"}}"#,
            "[\"a\",1]",
            &[
                "FieldValueTooMany spec.p: Too many: 2: must have at most 1 item",
                "FieldValueTypeInvalid spec.p[1]: Invalid value: \"integer\": spec.p[1] in body must be of type string: \"integer\"",
            ],
        ),
        (
            r#"{"type":"object","required":["r"],"properties":{"r":{"type":"string"}}}"#,
            "{}",
            &["FieldValueRequired spec.p.r: Required value"],
        ),
        (
            r#"{"type":"object","maxProperties":1,"additionalProperties":{"type":"integer"}}"#,
            "{\"a\":1,\"b\":\"x\"}",
            &[
                "FieldValueTooMany spec.p: Too many: 2: must have at most 1 item",
                "FieldValueTypeInvalid spec.p.b: Invalid value: \"string\": spec.p.b in body must be of type integer: \"string\"",
            ],
        ),
        (
            r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}"#,
            "{\"a\":\"\",\"b\":\"\"}",
            &[
                "FieldValueInvalid <nil>: Invalid value: \"\": \"spec.p\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
            ],
        ),
        (
            r#"{"type":"string","not":{"enum":["bad"]}}"#,
            "\"bad\"",
            &["FieldValueInvalid <nil>: Invalid value: \"\": \"spec.p\" must not validate the schema (not)"],
        ),
        (
            r#"{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}"#,
            "[\"a\",\"a\",\"a\"]",
            &["FieldValueDuplicate spec.p[1]: Duplicate value: \"a\""],
        ),
        (
            r#"{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k","l"],"items":{"type":"object"}}"#,
            "[{\"k\":1},{\"k\":1,\"v\":2}]",
            &["FieldValueDuplicate spec.p[1]: Duplicate value: {\"k\":1}"],
        ),
    ];
    for (schema, value, expected) in cases {
        let of = definition(&format!(r#""p":{schema}"#), "");
        assert_eq!(created(&of, &format!(r#"{{"p":{value}}}"#)), *expected, "{schema} {value}");
    }
}

#[test]
fn what_was_wrong_before_is_not_held_against_an_update() {
    let of = definition(
        r#""a":{"type":"string","maxLength":1},"b":{"type":"string"},
        "atomic":{"type":"array","items":{"type":"string","maxLength":1}},
        "keyed":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string","maxLength":1}}}}"#,
        "",
    );
    let old = r#"{"a":"long","b":"x","atomic":["long"],"keyed":[{"k":"1","v":"long"}]}"#;
    assert_eq!(updated(&of, old, &old.replace("\"x\"", "\"y\"")), [""; 0]);
    assert_eq!(updated(&of, old, &old.replace("[{\"k\"", "[{\"k\":\"0\"},{\"k\"")), [""; 0]);
    let changed = updated(&of, old, &old.replace("\"a\":\"long\"", "\"a\":\"longer\""));
    assert_eq!(changed, ["FieldValueTooLong spec.a: Too long: may not be more than 1 bytes"]);
    let atomic = updated(&of, old, &old.replace("[\"long\"]", "[\"long\",\"b\"]"));
    assert_eq!(atomic, ["FieldValueTooLong spec.atomic[0]: Too long: may not be more than 1 bytes"]);
}

#[test]
fn a_status_of_its_own() {
    let of = definition(r#""a":{"type":"string"}"#, r#","subresources":{"status":{}}"#);
    let version = &of.versions[0];
    let mut object = thing(r#"{"a":"x"}"#);
    object.as_object_mut().expect("object").set("status", parse(r#"{"n":1}"#));
    custom::begin_create(version, &mut object);
    assert_eq!((object.get("status"), object.at(&["metadata", "generation"])), (None, Some(&Value::Int(1))));

    let mut status = thing(r#"{"a":"changed"}"#);
    status.as_object_mut().expect("object").set("status", parse(r#"{"n":"wrong"}"#));
    custom::begin_update(version, "status", &mut status, &object);
    assert_eq!(status.str_at(&["spec", "a"]), "x");
    let mut causes = Causes::new();
    custom::update(&of, version, "status", &status, &object, None, &mut causes);
    assert_eq!(
        reported(&causes),
        ["FieldValueTypeInvalid status.n: Invalid value: \"string\": n in body must be of type integer: \"string\""]
    );

    let mut changed = thing(r#"{"a":"y"}"#);
    custom::begin_update(version, "", &mut changed, &object);
    assert_eq!(changed.at(&["metadata", "generation"]), Some(&Value::Int(2)));
}

#[test]
fn fingerprints_tell_schemas_apart() {
    let (one, same) = (definition(r#""a":{"type":"string"}"#, ""), definition(r#""a":{"type":"string"}"#, ""));
    let other = definition(r#""a":{"type":"integer"}"#, "");
    assert_eq!(one.versions[0].fingerprint, same.versions[0].fingerprint);
    assert_ne!(one.versions[0].fingerprint, other.versions[0].fingerprint);
}

/// Return a strategy for values of any form.
fn values() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "[a-c]{0,3}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            proptest::collection::btree_map("[a-e]", inner, 0..5)
                .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
        ]
    })
}

/// Return a strategy for schemas over the same names.
fn schemas() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::json!({"type": "string", "default": "d"})),
        Just(serde_json::json!({"type": "integer", "nullable": true})),
        Just(serde_json::json!({"x-kubernetes-int-or-string": true})),
        Just(serde_json::json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|i| serde_json::json!({"type": "array", "items": i})),
            inner.clone().prop_map(|i| serde_json::json!({"type": "object", "additionalProperties": i})),
            proptest::collection::btree_map("[a-e]", inner, 0..4)
                .prop_map(|m| serde_json::json!({"type": "object", "properties": m, "default": {}})),
        ]
    })
}

proptest! {
    /// Pruning and defaulting twice changes no more than once, and validation fails by causes only, whatever the input.
    #[test]
    fn coercion_is_idempotent(schema in schemas(), value in values()) {
        let of = definition(&format!(r#""a":{schema}"#), "");
        let (once, _) = decoded(&of, &format!(r#"{{"a":{value}}}"#));
        let mut twice = once.clone();
        let strict = custom::decode(&of, &of.versions[0], &mut twice, &|m| Ok((m.clone(), Vec::new())));
        prop_assert_eq!(strict, Ok(Vec::new()));
        prop_assert_eq!(once.to_json(), twice.to_json());
        let mut causes = Causes::new();
        custom::create(&of, &of.versions[0], &once, None, &mut causes);
    }
}

/// `validateExpressions`: a rule that an unchanged part broke before causes a warning.
#[test]
fn rules_that_were_broken_before_are_warned_of() {
    let of = definition(
        r#""a":{"type":"string","x-kubernetes-validations":[{"rule":"self == 'x'","message":"must be x"}]},"b":{"type":"integer"}"#,
        "",
    );
    let reported = |old: &str, new: &str| {
        let mut causes = Causes::new();
        custom::update(&of, &of.versions[0], "", &thing(new), &thing(old), None, &mut causes);
        (causes.len(), causes.take_warnings())
    };
    let warned = vec![r#"spec.a: Invalid value: "y": must be x"#.to_owned()];
    assert_eq!(reported(r#"{"a":"y","b":1}"#, r#"{"a":"y","b":2}"#), (0, warned));
    assert_eq!(reported(r#"{"a":"y","b":1}"#, r#"{"a":"z","b":1}"#), (1, vec![]));
}

/// `PruneDefaults`: in embedded resources a default of metadata keeps its fields, whatever the schema names.
#[test]
fn defaults_of_embedded_metadata_are_kept() {
    let of = definition(
        r#""e":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{
            "apiVersion":{"type":"string","default":"v1"},"kind":{"type":"string","default":"Pod"},
            "metadata":{"type":"object","default":{"name":"n","unknown":"u"},
                "properties":{"namespace":{"type":"string","default":"m"},"other":{"type":"string","default":"o"}}}}}"#,
        "",
    );
    let (object, _) = decoded(&of, r#"{"e":{}}"#);
    assert_eq!(
        object.at(&["spec", "e"]).map(Value::to_json).as_deref(),
        Some(r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n","namespace":"m"}}"#)
    );
}

/// `MapList.Get` of apiserver `pkg/cel/common`: items of a map by keys that are not objects have no old value.
#[test]
fn items_that_are_no_objects_were_nothing_before() {
    let of = definition(
        r#""l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
            "items":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]}}"#,
        "",
    );
    let mut causes = Causes::new();
    let old = thing(r#"{"l":["a","b"]}"#);
    custom::update(&of, &of.versions[0], "", &thing(r#"{"l":["a","b"],"x":1}"#), &old, None, &mut causes);
    let fields: Vec<_> = causes.as_slice().iter().map(|c| c.field.to_string()).collect();
    assert_eq!(fields, ["spec.l[0]", "spec.l[1]"]);
}
