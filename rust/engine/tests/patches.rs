//! Patches: one of few members has the same result as when the whole object is patched.

#![allow(missing_docs, reason = "each test says what it proves by its name")]

mod common;

use std::sync::Arc;

use hydrofoil_codec::json;
use hydrofoil_engine::kind::{Media, ObjectKind};
use hydrofoil_engine::write::{Patch, PatchType};
use hydrofoil_engine::{Error, Result};
use hydrofoil_merge as merge;
use hydrofoil_types::Value;
use proptest::prelude::*;

use common::{World, builtin, config_maps, parse, things};

fn patch(patch_type: PatchType, text: &str) -> Patch<'_> {
    Patch { patch_type, text: text.as_bytes(), lenient: false }
}

/// Return the result of a patch as JSON, and its strict errors.
fn patched(world: &World, name: &str, patch: Patch<'_>) -> Result<(String, Vec<String>)> {
    let old = world.get("a", name).expect("it is there");
    let (value, strict) = patch.to(&world.kind, &old)?;
    Ok((encoded(&*world.kind, &value), strict))
}

fn encoded(kind: &dyn ObjectKind, value: &Value) -> String {
    String::from_utf8(json::encode(&kind.info().schema, value)).expect("text")
}

/// Return the result of a patch of the whole JSON of an object.
fn of_the_whole(world: &World, name: &str, patch: Patch<'_>) -> String {
    let old = world.get("a", name).expect("it is there");
    let (mut value, patch_value) = (parse(&old.json().expect("it is stored")), parse(patch.text));
    match patch.patch_type {
        PatchType::Json => merge::json_patch(&mut value, &patch_value).expect("it fits"),
        PatchType::Merge => merge::json_merge(&mut value, patch_value),
        PatchType::Strategic => {
            merge::strategic(world.kind.ownership_schema(), &mut value, patch_value).expect("it fits");
        }
    }
    encoded(&*world.kind, &world.kind.decode(&json::encode_any(&value), Media::Json).expect("an object of the type").0)
}

const OWNERS: &str = r#""managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}]"#;

fn config_map(data: &str, annotations: &str) -> String {
    format!(
        r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"m","namespace":"a","annotations":{annotations},{OWNERS}}},"data":{data}}}"#
    )
}

/// Generate an object of a few members with short strings.
fn texts() -> impl Strategy<Value = String> {
    prop::collection::btree_map("[a-d]", "[a-z\"é]{0,4}", 0..4).prop_map(|map| {
        let members = map.iter().map(|(k, v)| format!("\"{k}\":\"{}\"", v.replace('"', "\\\"")));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    })
}

/// Generate a part of a merge patch: members that are set or removed.
fn changes() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => Just("null".to_owned()),
        6 => prop::collection::btree_map("[a-d]", prop::option::of("[a-z]{0,4}"), 0..4).prop_map(|map| {
            let shown = |v: &Option<String>| v.as_ref().map_or("null".to_owned(), |v| format!("\"{v}\""));
            let members = map.iter().map(|(k, v)| format!("\"{k}\":{}", shown(v)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }),
    ]
}

fn merge_patch() -> impl Strategy<Value = String> {
    let member = |name: &'static str| prop::option::of(changes().prop_map(move |c| format!("\"{name}\":{c}")));
    let immutable =
        prop::option::of(prop_oneof![Just("\"immutable\":true".to_owned()), Just("\"immutable\":null".to_owned())]);
    let annotations = prop::option::of(changes().prop_map(|c| format!("\"metadata\":{{\"annotations\":{c}}}")));
    (member("data"), immutable, annotations).prop_map(|(data, immutable, annotations)| {
        let members: Vec<_> = [data, immutable, annotations].into_iter().flatten().collect();
        format!("{{{}}}", members.join(","))
    })
}

/// Generate operations of a JSON patch that are valid for any object.
fn json_patch() -> impl Strategy<Value = String> {
    let operation = prop_oneof![
        ("[a-d]", "[a-z]{0,4}").prop_map(|(k, v)| format!(r#"{{"op":"add","path":"/data/{k}","value":"{v}"}}"#)),
        ("[a-d]", "[a-z]{0,4}")
            .prop_map(|(k, v)| format!(r#"{{"op":"add","path":"/metadata/annotations/{k}","value":"{v}"}}"#)),
        texts().prop_map(|data| format!(r#"{{"op":"replace","path":"/data","value":{data}}}"#)),
        Just(r#"{"op":"copy","from":"/data","path":"/metadata/annotations"}"#.to_owned()),
        Just(r#"{"op":"test","path":"/metadata/name","value":"m"}"#.to_owned()),
    ];
    prop::collection::vec(operation, 0..5).prop_map(|ops| format!("[{}]", ops.join(",")))
}

fn one(data: &str, annotations: &str) -> World {
    let world = World::new(config_maps(), 100);
    world.create(&config_map(data, annotations));
    world
}

/// Generate an object whose containers or annotations are never empty.
fn members() -> impl Strategy<Value = (String, String)> {
    (texts(), texts()).prop_map(|(data, annotations)| {
        let filled = |map: String| if map == "{}" { r#"{"z":"z"}"#.to_owned() } else { map };
        (filled(data), filled(annotations))
    })
}

proptest! {
    #[test]
    fn a_merge_patch_is_one_of_the_whole((data, annotations) in members(), text in merge_patch()) {
        let world = one(&data, &annotations);
        for patch_type in [PatchType::Merge, PatchType::Strategic] {
            let patch = patch(patch_type, &text);
            let (got, strict) = patched(&world, "m", patch).expect("it fits");
            prop_assert_eq!(&got, &of_the_whole(&world, "m", patch));
            prop_assert_eq!(strict, Vec::<String>::new());
            prop_assert!(got.contains(OWNERS), "owners are left alone");
        }
    }

    #[test]
    fn a_json_patch_is_one_of_the_whole((data, annotations) in members(), text in json_patch()) {
        let world = one(&data, &annotations);
        let patch = patch(PatchType::Json, &text);
        let (got, strict) = patched(&world, "m", patch).expect("it fits");
        prop_assert_eq!(&got, &of_the_whole(&world, "m", patch));
        prop_assert_eq!(strict, Vec::<String>::new());
        prop_assert!(got.contains(OWNERS), "owners are left alone");
    }

    /// Map lists, in an object whose storage version is another one.
    #[test]
    fn a_strategic_patch_merges_by_keys(
        names in prop::collection::btree_set("[a-c]", 1..4),
        changes in prop::collection::btree_map("[a-d]", prop::option::of("[a-z]{1,3}"), 1..4),
        replicas in prop::option::of(0..9),
    ) {
        let world = World::new(builtin("apps", "v1", "deployments"), 100);
        let containers: Vec<_> = names.iter().map(|n| format!(r#"{{"name":"{n}","image":"i"}}"#)).collect();
        world.create(&format!(
            r#"{{"kind":"Deployment","apiVersion":"apps/v1","metadata":{{"name":"m","namespace":"a",{OWNERS}}},
            "spec":{{"template":{{"spec":{{"containers":[{}]}}}}}}}}"#,
            containers.join(",")
        ));
        let change = |(name, image): (&String, &Option<String>)| match image {
            Some(image) => format!(r#"{{"name":"{name}","image":"{image}"}}"#),
            None => format!(r#"{{"name":"{name}","$patch":"delete"}}"#),
        };
        let changes: Vec<_> = changes.iter().map(change).collect();
        let replicas = replicas.map_or(String::new(), |n| format!(r#""replicas":{n},"#));
        let text = format!(r#"{{"spec":{{{replicas}"template":{{"spec":{{"containers":[{}]}}}}}}}}"#, changes.join(","));
        let patch = patch(PatchType::Strategic, &text);
        let (got, _) = patched(&world, "m", patch).expect("it fits");
        prop_assert_eq!(&got, &of_the_whole(&world, "m", patch));
        prop_assert!(got.contains(OWNERS), "owners are left alone");
    }

    #[test]
    fn a_merge_patch_of_a_custom_resource_is_one_of_the_whole(size in 1..9, color in prop::option::of("[a-z]{1,3}")) {
        let world = World::new(Arc::clone(&things("None")[1]), 100);
        world.create(r#"{"apiVersion":"e.com/v2","kind":"Thing","metadata":{"name":"m","namespace":"a"},"spec":{"size":1,"color":"blue"}}"#);
        let color = color.map_or("null".to_owned(), |color| format!("\"{color}\""));
        let text = format!(r#"{{"spec":{{"size":{size},"color":{color}}}}}"#);
        let patch = patch(PatchType::Merge, &text);
        prop_assert_eq!(patched(&world, "m", patch).expect("it fits").0, of_the_whole(&world, "m", patch));
    }
}

fn refused(patch_type: PatchType, text: &str) -> Error {
    patched(&one(r#"{"a":"1"}"#, "{}"), "m", patch(patch_type, text)).expect_err(text)
}

#[test]
fn outcomes_of_another_type_are_refused() {
    let outcome = refused(PatchType::Merge, r#"{"kind":"Secret"}"#);
    let Error::TypeMeta { api_version, kind, outcome } = outcome else { panic!("{outcome:?}") };
    assert_eq!((&*api_version, &*kind), ("v1", "Secret"));
    assert!(outcome.contains(r#""kind":"Secret""#) && outcome.contains(r#""data":{"a":"1"}"#), "{outcome}");
    let refusal = refused(PatchType::Json, r#"[{"op":"replace","path":"/apiVersion","value":1}]"#);
    assert_eq!(refusal.reason(), "patched");
    assert!(
        refusal.to_string().ends_with("json: cannot unmarshal number into Go struct field .apiVersion of type string")
    );
    let lenient = Patch { lenient: true, ..patch(PatchType::Merge, r#"{"kind":"Secret"}"#) };
    patched(&one("{}", "{}"), "m", lenient).expect("it may name another type");
    patched(&one("{}", "{}"), "m", patch(PatchType::Strategic, r#"{"kind":"Secret"}"#)).expect("that does not count");
}

#[test]
fn outcomes_that_do_not_decode_show_the_whole() {
    let Error::Patched { message, outcome } = refused(PatchType::Merge, r#"{"data":{"a":1}}"#) else {
        panic!("it is shown")
    };
    assert!(message.contains("ConfigMap.data of type string"), "{message}");
    assert!(outcome.starts_with(r#"{"apiVersion":"v1","data":{"a":1},"kind":"ConfigMap""#), "{outcome}");
}

#[test]
fn patches_that_are_none_are_refused() {
    for (patch_type, text, reason) in [
        (PatchType::Merge, "[]", "syntax"),
        (PatchType::Merge, "null", "syntax"),
        (PatchType::Merge, "{", "syntax"),
        (PatchType::Json, r#"[{"op":"test","path":"/data/a","value":"2"}]"#, "failed"),
        (PatchType::Json, r#"[{"op":"remove","path":"/data/b"}]"#, "failed"),
        (PatchType::Strategic, r#"{"$patch":"other"}"#, "internal"),
    ] {
        assert_eq!(refused(patch_type, text).reason(), reason, "{text}");
    }
    patched(&one("{}", "{}"), "m", patch(PatchType::Strategic, "null")).expect("Go reads null as an empty object");
}

#[test]
fn strict_readers_object_to_patches_and_to_outcomes() {
    let world = one("{}", "{}");
    let strict = |patch_type, text| patched(&world, "m", patch(patch_type, text)).expect("it fits").1;
    assert_eq!(strict(PatchType::Merge, r#"{"other":1}"#), [r#"unknown field "other""#]);
    assert_eq!(strict(PatchType::Strategic, r#"{"b":1,"a":1}"#), [r#"unknown field "a""#, r#"unknown field "b""#]);
    assert_eq!(strict(PatchType::Merge, r#"{"data":{},"data":{}}"#), [r#"duplicate field "data""#]);
    let twice = r#"[{"op":"add","op":"add","path":"/data","value":{}}]"#;
    assert_eq!(strict(PatchType::Json, twice), [r#"json patch duplicate field "[0].op""#]);
}

#[test]
fn patches_of_owners_change_them() {
    let world = one("{}", "{}");
    for text in [r#"{"metadata":{"managedFields":[{}]}}"#, r#"{"metadata":{"managedFields":null}}"#] {
        assert!(!patched(&world, "m", patch(PatchType::Merge, text)).expect("it fits").0.contains(OWNERS));
    }
    let text = r#"[{"op":"remove","path":"/metadata/managedFields"}]"#;
    assert!(!patched(&world, "m", patch(PatchType::Json, text)).expect("it fits").0.contains(OWNERS));
}

/// `stringData` of a secret is merged into its `data`.
#[test]
fn string_data_of_a_secret_is_added_to_its_data() {
    let world = World::new(builtin("", "v1", "secrets"), 100);
    world.create(r#"{"kind":"Secret","apiVersion":"v1","metadata":{"name":"m","namespace":"a"},"data":{"a":"MQ=="}}"#);
    let (got, _) = patched(&world, "m", patch(PatchType::Merge, r#"{"stringData":{"b":"2"}}"#)).expect("it fits");
    assert!(got.contains(r#""b":"Mg==""#), "{got}");
    assert!(got.contains(r#""a":"MQ==""#), "{got}");
}
