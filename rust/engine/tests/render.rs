//! One version in all forms.

#![allow(missing_docs, reason = "each test says what it proves by its name")]

mod common;

use std::sync::Arc;

use hydrofoil_codec::{cbor, proto};
use hydrofoil_engine::Error;
use hydrofoil_engine::kind::Media;
use hydrofoil_engine::read::{self, Form};
use hydrofoil_engine::stored::Stored;
use hydrofoil_types::Timestamp;

use common::{Bytes, NOW, World, builtin, config_maps, draft, things};

fn stored() -> Stored {
    World::new(config_maps(), 10).create(
        r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m","namespace":"a","creationTimestamp":"2027-01-15T07:55:00Z",
        "managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]},"data":{"k":"<v>"}}"#,
    )
}

fn body(stored: &Stored, form: &str) -> Vec<u8> {
    read::body(stored, &Form::parse(form).expect("a form"), NOW).expect("it is stored")
}

fn text(stored: &Stored, form: &str) -> String {
    String::from_utf8(body(stored, form)).expect("text")
}

const OWNERS: &str = r#","managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]"#;
const METADATA: &str =
    r#"{"name":"m","namespace":"a","resourceVersion":"101","creationTimestamp":"2027-01-15T07:55:00Z""#;

#[test]
fn json_is_what_is_stored() {
    let stored = stored();
    let expected = format!(
        "{{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{METADATA}{OWNERS}}},\"data\":{{\"k\":\"\\u003cv\\u003e\"}}}}\n"
    );
    assert_eq!(text(&stored, "json"), expected);
    assert_eq!(*read::stored_body::<Bytes>(&stored).expect("it is stored"), *expected.as_bytes());
}

#[test]
fn metadata_stands_alone() {
    let stored = stored();
    assert_eq!(text(&stored, "json:bare"), format!("{{\"metadata\":{METADATA}}}}}\n"));
    let head = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":"#;
    assert_eq!(text(&stored, "json:metadata:v1"), format!("{head}{METADATA}{OWNERS}}}}}\n"));
    let binary = body(&stored, "protobuf:metadata:v1");
    let (api_version, kind, _) = proto::unwrap(&binary).expect("an envelope");
    assert_eq!((&*api_version, &*kind), ("meta.k8s.io/v1", "PartialObjectMetadata"));
}

#[test]
fn a_table_has_one_row_and_ages() {
    let stored = stored();
    let table = text(&stored, "json:table:v1:None");
    assert!(table.starts_with(r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"101"},"columnDefinitions":[{"name":"Name""#), "{table}");
    assert!(table.ends_with("\"rows\":[{\"cells\":[\"m\",1,\"5m\"],\"object\":null}]}\n"), "{table}");
    assert!(text(&stored, "json:table:v1:Object").ends_with("\"data\":{\"k\":\"\\u003cv\\u003e\"}}}]}\n"));
    let partial = text(&stored, "json:table:v1beta1:Metadata");
    assert!(
        partial.contains(r#""object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":"#)
    );
    let form = Form::parse("json:table:v1:None").expect("a form");
    let until = |now| {
        read::render(&**stored.kind(), &form, stored.version(), false, now, &mut Vec::new()).expect("it is stored")
    };
    assert_eq!(until(NOW), NOW.seconds + 1, "minutes are shown with their seconds below ten");
    assert_eq!(until(Timestamp { seconds: NOW.seconds + 3_600, ..NOW }), NOW.seconds + 3_660);
}

#[test]
fn protobuf_and_cbor_read_back() {
    let stored = stored();
    for (form, media) in [("protobuf", Media::Protobuf), ("cbor", Media::Cbor), ("json", Media::Yaml)] {
        let (value, strict) = stored.kind().decode(&body(&stored, form), media).expect("its own encoding");
        assert_eq!(strict, [""; 0]);
        assert_eq!(value, *stored.object().expect("it is stored"), "{form}");
    }
    assert_eq!(body(&stored, "cbor")[..3], cbor::SELF_DESCRIBED);
    let item = |form: &str| {
        let mut out = Vec::new();
        read::render(&**stored.kind(), &Form::parse(form).expect("a form"), stored.version(), false, NOW, &mut out)
            .expect("stored");
        out
    };
    assert!(item("json").starts_with(br#"{"metadata":{"name":"m""#), "items leave the type out");
    assert_eq!([&cbor::SELF_DESCRIBED, &*item("cbor:metadata:v1")].concat(), body(&stored, "cbor:metadata:v1"));
}

#[test]
fn bodies_of_another_type_say_so() {
    let stored = stored();
    let (value, _) =
        builtin("", "v1", "secrets").decode(&body(&stored, "protobuf"), Media::Protobuf).expect("its type");
    assert_eq!((value.str_at(&["apiVersion"]), value.str_at(&["kind"])), ("v1", "ConfigMap"));
    let unknown = |text: &[u8], media| stored.kind().decode(text, media).map(|(_, strict)| strict);
    assert_eq!(
        unknown(br#"{"a":1,"b":2}"#, Media::Json),
        Ok(vec![r#"unknown field "a""#.to_owned(), r#"unknown field "b""#.to_owned()])
    );
    assert_eq!(unknown(b"a: 1\na: 2", Media::Yaml).expect("an object").len(), 2);
    assert_eq!(unknown(b"{", Media::Json).expect_err("no JSON").reason(), "syntax");
    assert_eq!(unknown(b"[]", Media::Json).expect_err("no object").reason(), "type");
    assert_eq!(
        [Media::by_name("cbor"), Media::by_name("yaml"), Media::by_name("json")],
        [Media::Cbor, Media::Yaml, Media::Json]
    );
}

fn thing(world: &World) -> Stored {
    world
        .create(r#"{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"m","namespace":"a"},"spec":{"size":3}}"#)
}

#[test]
fn a_custom_resource_is_shown_in_other_versions() {
    let kinds = things("None");
    let stored = thing(&World::new(Arc::clone(&kinds[0]), 10));
    let version = stored.version();
    let second = Stored::new(&kinds[1], Arc::clone(version));
    let json = r#"{"apiVersion":"e.com/v2","kind":"Thing","metadata":{"name":"m","namespace":"a","resourceVersion":"101"},"spec":{"color":"red","size":3}}"#;
    assert_eq!(str::from_utf8(&second.json().expect("it converts")), Ok(json));
    assert!(kinds[0].is_stored_form(version) && kinds[0].fingerprint() == version.fingerprint());
    assert!(!kinds[1].is_stored_form(version) && kinds[1].fingerprint() != version.fingerprint());
    assert!(text(&second, "json:table:v1:None").ends_with("\"rows\":[{\"cells\":[\"m\",3],\"object\":null}]}\n"));
    assert_eq!(kinds[1].is_pending(version, true), Ok(false));
}

#[test]
fn a_webhook_converts_before_an_object_is_shown() {
    let kinds = things("Webhook");
    let stored = thing(&World::new(Arc::clone(&kinds[0]), 10));
    let (version, second) = (stored.version(), &kinds[1]);
    assert!(second.has_webhook() && second.is_foreign() && !kinds[0].is_foreign());
    let shown = Stored::new(second, Arc::clone(version));
    assert_eq!(shown.json(), Err(Error::Unconverted("e.com/v2".to_owned())));
    assert_eq!(shown.json().expect_err("it is not converted").reason(), "webhook");
    assert_eq!(second.is_pending(version, false), Ok(true));
    assert_eq!(second.to_convert(version), Ok(Some(version.json().to_vec())));
    let converted = String::from_utf8_lossy(version.json()).replace("e.com/v1", "e.com/v2").replace("red", "blue");
    second.set_converted(version, converted.as_bytes()).expect("an object");
    assert_eq!(second.is_pending(version, false), Ok(false));
    assert_eq!(shown.json().expect("it is converted"), converted.as_bytes());
    let mut foreign = draft(second, &converted);
    assert!(foreign.to_convert().is_some());
    foreign.set_converted(version.json()).expect("an object");
    assert_eq!(foreign.to_stored().json, draft(&kinds[0], &String::from_utf8_lossy(version.json())).to_stored().json);
}

#[test]
fn field_labels_are_those_of_the_kind() {
    let label = |kind: &Arc<dyn hydrofoil_engine::kind::ObjectKind>, label: &str| kind.field_target(label).map(|_| ());
    let [thing, _] = things("None");
    for kind in [&config_maps(), &thing] {
        assert_eq!(label(kind, "metadata.name"), Ok(()));
        assert_eq!(label(kind, "metadata.namespace"), Ok(()));
        assert!(label(kind, "spec.size").is_err());
    }
    assert_eq!(label(&thing, "spec.color"), Ok(()));
    assert_eq!(label(&builtin("", "v1", "pods"), "spec.nodeName"), Ok(()));
    let refused = read::filter(&*config_maps(), "", "a in (", "").expect_err("no selector");
    assert_eq!(refused.reason(), "invalid");
}
