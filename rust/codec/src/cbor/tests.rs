#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]

use hydrofoil_types::{Catalog, Value};
use proptest::prelude::*;

use super::{encode, encode_tagged, to_json, typed_to_json};
use crate::json;

fn read(bytes: &[u8]) -> Result<String, String> {
    to_json(bytes).map(|b| String::from_utf8(b).unwrap()).map_err(|e| e.to_string())
}

#[test]
fn examples_of_the_specification() {
    for (bytes, text) in [
        (&b"\x18\x64"[..], "100"),
        (b"\x3b\x7f\xff\xff\xff\xff\xff\xff\xff", "-9223372036854775808"),
        (b"\xf9\x3e\x00", "1.5"),
        (b"\xf9\x40\x00", "2.0"),
        (b"\xf9\x00\x01", "5.960464477539063e-8"),
        (b"\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a", "1.1"),
        (b"\xc1\x1a\x51\x4b\x67\xb0", "\"2013-03-21T20:04:00Z\""),
        (b"\xd6\x43\x00\xff\x01", "\"AP8B\""),
        (b"\xd9\xd9\xf7\xa1\x41a\x9f\x01\x82\x02\x03\xff", "{\"a\":[1,[2,3]]}"),
        (b"\xbf\x7f\x61a\x61b\xff\xf5\x61c\xbf\xff\xff", "{\"ab\":true,\"c\":{}}"),
        (b"\xf6", "{}"),
    ] {
        assert_eq!(read(bytes).as_deref(), Ok(text), "{bytes:x?}");
    }
}

#[test]
fn what_json_cannot_hold_is_refused() {
    for bytes in [
        &b""[..],
        b"\xd9\xd9\xf7",
        b"\xff",
        b"\x1b\x80\x00\x00\x00\x00\x00\x00\x00",
        b"\xf9\x7e\x00",
        b"\xf9\x7c\x00",
        b"\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00",
        b"\xf7",
        b"\xf8\x63",
        b"\xa1\x01\x61x",
        b"\x62\xff\xfe",
        b"\xa2\x61k\x611\x41k\x612",
        b"\x01\x01",
        b"\xa1\x61k",
        b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff",
    ] {
        assert!(read(bytes).is_err(), "{bytes:x?}");
    }
    let deep = [vec![0x81; 20_000], vec![1]].concat();
    assert!(read(&deep).unwrap_err().contains("nested"));
}

/// A field of bytes takes base64 as a byte string and raw bytes with any tag that requests a text, but no text.
#[test]
fn bytes_of_a_type() {
    let catalog = br#"{"resources":[],"types":{"io.k8s.api.core.v1.ConfigMap":{"f":[{"n":"binaryData","s":"{}y"}]}}}"#;
    let catalog = Catalog::parse(catalog).unwrap();
    let schema = catalog.schema("io.k8s.api.core.v1.ConfigMap").unwrap();
    let read = |bytes: &[u8]| {
        let body = [b"\xa1\x4abinaryData\xa1\x41k", bytes].concat();
        typed_to_json(&schema, &body).map(|b| String::from_utf8(b).unwrap()).map_err(|e| e.to_string())
    };
    for bytes in [&b"\x44AP8B"[..], b"\xd5\x43\x00\xff\x01", b"\xd6\x43\x00\xff\x01", b"\xd7\x43\x00\xff\x01"] {
        assert_eq!(read(bytes).as_deref(), Ok(r#"{"binaryData":{"k":"AP8B"}}"#), "{bytes:x?}");
    }
    let refused =
        "cbor: cannot unmarshal UTF-8 text string into Go struct field v1.ConfigMap.binaryData of type []uint8";
    assert_eq!(read(b"\x64AP8B"), Err(refused.to_owned()));
}

#[test]
fn texts_are_byte_strings() {
    let value = json::parse(br#"{"a":"b"}"#).unwrap().value;
    assert_eq!(encode_tagged(None, &value), b"\xd9\xd9\xf7\xa1\x41a\x41b");
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        prop::num::f64::NORMAL.prop_map(|f| Value::float(f).expect("finite")),
        (-70_000i32..70_000, 0i32..30)
            .prop_map(|(n, e)| Value::float(f64::from(n) * 2f64.powi(-e) + 0.5).expect("finite")),
        ".*".prop_map(Value::str),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map("[a-z]{0,5}", inner, 0..6).prop_map(|members| {
                let mut value = Value::object();
                for (name, member) in members {
                    value.object_at_mut(&[]).set(&name, member);
                }
                value
            }),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_comes_back(value in tree()) {
        let mut bytes = Vec::new();
        encode(None, &Value::Array(vec![value.clone()]), &mut bytes);
        let text = to_json(&bytes).unwrap();
        prop_assert_eq!(json::parse(&text).unwrap().value, Value::Array(vec![value]));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(text) = to_json(&bytes) {
            prop_assert!(json::parse(&text).is_ok());
        }
    }
}
