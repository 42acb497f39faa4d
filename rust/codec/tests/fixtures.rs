//! Upstream's fixtures: JSON and protobuf of one object, byte for byte.

mod common;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::{kind_of, recordings, root};
use hydrofoil_codec::{json, proto};
use hydrofoil_types::{Catalog, Schema};

/// The package of the kinds that upstream registers in every group version (`metav1.AddToGroupVersion`).
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// Return the served types and those known only to upstream's codecs.
fn every_type() -> Catalog {
    let read = |path: &str| -> serde_json::Value {
        let data = std::fs::read(root().join(path)).expect("data of the checkout");
        serde_json::from_slice(&data).expect("JSON")
    };
    let mut all = read("python/hydrofoil/apis/data/catalog.json");
    let unserved = read("rust/codec/tests/data/unserved.json");
    let more = unserved["types"].as_object().expect("types by name").clone();
    all["types"].as_object_mut().expect("types by name").extend(more);
    Catalog::parse(all.to_string().as_bytes()).expect("a catalog")
}

/// Return the schema by the kind in the file's name: the envelope of a watch event has none.
fn schema_of(catalog: &Catalog, version: &str, stem: &str) -> Option<Schema> {
    let kind = stem.rsplit('.').next()?;
    kind_of(catalog, version, kind).or_else(|| catalog.schema(&format!("{META}.{kind}")))
}

#[test]
fn fixtures_round_trip() {
    let catalog = every_type();
    let mut seen = 0;
    let mut wrong = Vec::new();
    for fixture in recordings(&root().join("tests/conformance/answers/fixtures.jsonl.gz")) {
        let member = |name: &str| fixture[name].as_str().expect("a member of a fixture");
        let stem = member("name");
        let bytes = STANDARD.decode(member("protobuf")).expect("base64");
        let text = member("json").as_bytes();
        let (version, kind, _) = proto::unwrap(&bytes).expect("an envelope");
        seen += 1;
        let Some(schema) = schema_of(&catalog, &version, stem) else {
            wrong.push(format!("{stem}: no type"));
            continue;
        };
        let mut from_json = json::decode(&schema, text).expect("a good fixture").value;
        match proto::decode(&schema, &bytes) {
            Ok(value) if json::indent(&json::encode(&schema, &value)) != text => {
                wrong.push(format!("{stem}: protobuf becomes other JSON"));
            }
            Ok(_) => {}
            Err(e) => wrong.push(format!("{stem}: {e}")),
        }
        if json::indent(&json::encode(&schema, &from_json)) != text {
            wrong.push(format!("{stem}: JSON becomes other JSON"));
        }
        // The text is indented also where it is kept as given.
        json::change_raw(&schema, &mut from_json, json::RawForm::Compact);
        if proto::envelope(&version, &kind, &proto::encode(&schema, &from_json)) != bytes {
            wrong.push(format!("{stem}: JSON becomes other protobuf"));
        }
    }
    assert!(wrong.is_empty(), "{} of {seen}\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen >= 185, "only {seen} fixtures");
}

/// Go decodes a list of small numbers as bytes, and null in a map of bytes is stored as empty.
#[test]
fn bytes_are_text_or_numbers() {
    let catalog = common::served();
    let resource = catalog.resource("", "v1", "configmaps").expect("config maps");
    let schema = catalog.schema(&resource.type_name).expect("their type");
    let read = |bytes: &str| json::decode(&schema, format!(r#"{{"binaryData":{{"k":{bytes}}}}}"#).as_bytes());
    for (bytes, text) in [("\"AQI=\"", "AQI="), ("[1,2]", "AQI="), ("[]", ""), ("[null]", "AA=="), ("null", "")] {
        let read = read(bytes).unwrap_or_else(|e| panic!("{bytes}: {e}")).value;
        assert_eq!(read.str_at(&["binaryData", "k"]), text, "{bytes}");
        assert!(read.at(&["binaryData", "k"]).is_some_and(|v| v.as_str().is_some()), "{bytes}");
    }
    for (bytes, found) in [("[256]", "number 256"), ("[\"a\"]", "string"), ("{}", "object")] {
        let error = read(bytes).expect_err(bytes).to_string();
        assert!(error.contains(&format!("cannot unmarshal {found} into Go")), "{error}");
    }
}

/// All but texts are read as numbers (apimachinery `pkg/util/intstr/intstr.go`, `UnmarshalJSON`).
#[test]
fn a_port_is_a_text_or_a_number() {
    let catalog = common::served();
    let resource = catalog.resource("", "v1", "services").expect("services");
    let schema = catalog.schema(&resource.type_name).expect("their type");
    for (port, found) in [("true", "bool"), ("{}", "object"), ("[1]", "array"), ("1.5", "number 1.5")] {
        let text = format!(r#"{{"spec":{{"ports":[{{"targetPort":{port}}}]}}}}"#);
        let error = json::decode(&schema, text.as_bytes()).expect_err(port).to_string();
        let field = "Go struct field ServicePort.spec.ports.targetPort of type int32";
        assert_eq!(error, format!("json: cannot unmarshal {found} into {field}"));
    }
}

/// Go's encoder omits the value of an entry whose bytes are nil (generated `MarshalToSizedBuffer`), its decoder begins with
/// the zero value.
#[test]
fn an_entry_without_a_value_has_the_zero_value() {
    let catalog = common::served();
    let resource = catalog.resource("", "v1", "configmaps").expect("config maps");
    let schema = catalog.schema(&resource.type_name).expect("their type");
    let entry = b"\x03\x0a\x01k";
    let body = [&[0x12], &entry[..], &[0x1a], &entry[..]].concat();
    let read = proto::decode(&schema, &proto::envelope("v1", "ConfigMap", &body)).expect("it is well-formed");
    for member in ["data", "binaryData"] {
        assert_eq!(read.at(&[member, "k"]).and_then(|value| value.as_str()), Some(""), "{member}");
    }
}
