//! An object that is accepted lasts: it reads back, can be patched and listed, and is loaded again, whatever values it has.

#![allow(missing_docs, reason = "each test says what it proves by its name")]

mod common;

use std::sync::Arc;

use hydrofoil_codec::{cbor, json};
use hydrofoil_engine::kind::{Media, ObjectKind};
use hydrofoil_engine::write::{Change, Draft, Patch, PatchType};
use hydrofoil_types::Value;
use proptest::prelude::*;

use common::{World, builtin, catalog, parse};

/// Numbers at and beyond the ends of floats and integers.
const NUMBERS: [&str; 14] = [
    "0",
    "-0",
    "-0.0",
    "1.0",
    "1e0",
    "1e308",
    "1e309",
    "-1e309",
    "1e-400",
    "0.0000001",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1e21",
];

/// Return a kind of open objects.
fn open() -> Arc<dyn ObjectKind> {
    let text = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.e.com"},
        "spec":{"group":"e.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing","listKind":"ThingList"},
        "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
            "x-kubernetes-preserve-unknown-fields":true}}}]},
        "status":{"acceptedNames":{"plural":"things","kind":"Thing","listKind":"ThingList"},"storedVersions":["v1"]}}"#;
    let definitions = builtin("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    let (definition, _) = definitions.decode(text.as_bytes(), Media::Json).expect("a definition");
    catalog().custom(&definition).into_iter().next().expect("one version").1
}

/// Store an object, and do with it what clients and servers do with stored objects.
fn last(kind: &Arc<dyn ObjectKind>, value: Value) {
    let world = World::new(Arc::clone(kind), 100);
    let mut draft = Draft::new(Arc::clone(kind), value);
    let stored = world.commit(&Change::create(&mut draft)).expect("it is new");
    let text = stored.json().expect("it is JSON").to_vec();
    assert!(json::parse(&text).is_ok(), "{}", String::from_utf8_lossy(&text));
    let (again, _) = kind.decode(&text, Media::Json).expect("a client sends it back");
    // Another server loads it.
    let loaded = World::new(Arc::clone(kind), 100);
    let copy = loaded.commit(&Change::create(&mut Draft::new(Arc::clone(kind), again))).expect("it is new");
    assert_eq!(parse(&copy.json().expect("JSON")).get("spec"), parse(&text).get("spec"));
    let labels = r#"{"metadata":{"labels":{"a":"b"}}}"#;
    let pointer = r#"[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]"#;
    for (patch_type, patch) in [(PatchType::Merge, labels), (PatchType::Json, pointer)] {
        let patch = Patch { patch_type, text: patch.as_bytes(), lenient: false };
        let (patched, _) = patch.to(kind, &stored).expect("it is patched");
        let _ = Change::update(&stored, &mut Draft::new(Arc::clone(kind), patched));
    }
    let body = cbor::encode_tagged(None, &parse(&text));
    kind.decode(&body, Media::Cbor).expect("it is CBOR");
    world.commit(&Change::delete(&stored)).expect("it is there");
}

fn numbers() -> impl Strategy<Value = String> {
    let plain = prop::sample::select(NUMBERS.to_vec()).prop_map(str::to_owned);
    prop_oneof![plain, (any::<i64>(), -400i32..400).prop_map(|(n, e)| format!("{n}e{e}"))]
}

fn values() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![4 => numbers(), 1 => Just("null".to_owned()), 1 => Just(r#""a""#.to_owned())];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(",")));
        let map = prop::collection::vec(inner, 0..3).prop_map(|values| {
            let members: Vec<_> = values.iter().enumerate().map(|(i, value)| format!(r#""m{i}":{value}"#)).collect();
            format!("{{{}}}", members.join(","))
        });
        prop_oneof![list, map]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_accepted_lasts(value in values(), media in 0usize..2) {
        let media = [Media::Json, Media::Yaml][media];
        let head = r#""metadata":{"name":"m","namespace":"a"}"#;
        let thing = open();
        let revision = builtin("apps", "v1", "controllerrevisions");
        for (kind, text) in [
            (&thing, format!(r#"{{"apiVersion":"e.com/v1","kind":"Thing",{head},"spec":{value}}}"#)),
            (&revision, format!(r#"{{"apiVersion":"apps/v1","kind":"ControllerRevision",{head},"revision":1,"data":{value}}}"#)),
        ] {
            if let Ok((object, _)) = kind.decode(text.as_bytes(), media) {
                last(kind, object);
            }
        }
    }
}

#[test]
fn numbers_beyond_floats_are_refused_in_the_words_of_go() {
    let plain = "json: cannot unmarshal number 1e309 into Go value of type float64";
    let thing = r#"{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"m"},"spec":{"a":[1e309]}}"#;
    assert_eq!(open().decode(thing.as_bytes(), Media::Json).expect_err("no float holds it").to_string(), plain);
    let revision = r#"{"apiVersion":"apps/v1","kind":"ControllerRevision","revision":1,"data":{"a":1e309}}"#;
    let revisions = builtin("apps", "v1", "controllerrevisions");
    assert_eq!(revisions.decode(revision.as_bytes(), Media::Json).expect_err("no float holds it").to_string(), plain);
    let spec = r#"{"versions":[{"schema":{"openAPIV3Schema":{"maximum":1e309}}}]}"#;
    let definition = format!(r#"{{"metadata":{{"name":"m"}},"spec":{spec}}}"#);
    let definitions = builtin("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    let why = definitions.decode(definition.as_bytes(), Media::Json).expect_err("no float holds it").to_string();
    assert!(why.starts_with("json: cannot unmarshal number 1e309 into Go struct field"), "{why}");
    assert!(why.ends_with("of type float64"), "{why}");
    // The numbers of unknown fields are not read.
    let (_, strict) =
        definitions.decode(br#"{"metadata":{"name":"m"},"other":1e309}"#, Media::Json).expect("it is left out");
    assert_eq!(strict, [r#"unknown field "other""#]);
}

#[test]
fn floats_that_json_cannot_hold_are_refused_in_binary_bodies() {
    for (bits, name) in [([0x7f, 0xf0], "infinity"), ([0xff, 0xf0], "infinity"), ([0x7f, 0xf8], "NaN")] {
        let mut body = b"\xa2\x68metadata\xa1\x64name\x61m\x64spec\xfb".to_vec();
        body.extend(bits);
        body.extend([0; 6]);
        let why = open().decode(&body, Media::Cbor).expect_err("JSON has no such number").to_string();
        assert!(why.ends_with(&format!("not accepted by protocol: floating-point {name}")), "{why}");
    }
}
