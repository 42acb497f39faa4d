//! Protobuf of types that are not plain structs.

#![allow(clippy::arithmetic_side_effects, reason = "nanoseconds lie within a second")]

use hydrofoil_types::{Arena, Schema, Shape, Special, Timestamp, Value};

use super::struct_message;
use crate::json;
use crate::proto::wire;

const SECOND: i64 = 1_000_000_000;

/// Return the message of a special value; zero values as Go's generated code writes them.
#[inline]
pub(super) fn encode(arena: &std::sync::Arc<Arena>, kind: Special, value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    match kind {
        Special::Quantity => wire::bytes(&mut out, 1, value.as_str().unwrap_or("0").as_bytes()),
        Special::Time | Special::MicroTime => {
            if let Some(t) = value.as_str().and_then(Timestamp::parse) {
                wire::number(&mut out, 1, t.seconds);
                wire::number(&mut out, 2, if kind == Special::Time { 0 } else { i64::from(t.nanos / 1000 * 1000) });
            }
        }
        Special::Duration => {
            let seconds = value.as_str().and_then(|s| s.strip_suffix('s')).and_then(|s| s.parse::<i64>().ok());
            wire::number(&mut out, 1, seconds.and_then(|s| s.checked_mul(SECOND)).unwrap_or(0));
        }
        Special::IntOrString => {
            let given = value.as_str();
            wire::number(&mut out, 1, i64::from(given.is_some()));
            wire::number(&mut out, 2, value.as_int().unwrap_or(0));
            wire::bytes(&mut out, 3, given.unwrap_or("").as_bytes());
        }
        Special::Json | Special::Raw | Special::Fields => {
            if *value != Value::Null {
                wire::bytes(&mut out, 1, &json::encode_any(value));
            }
        }
        Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStrings => {
            let props = Schema { arena: std::sync::Arc::clone(arena), root: json::props(arena) };
            match value {
                Value::Bool(b) => wire::number(&mut out, 1, i64::from(*b)),
                Value::Object(_) => {
                    let boolean = kind == Special::SchemaOrBool;
                    if boolean {
                        // The presence of a schema implies `allows`.
                        wire::number(&mut out, 1, 1);
                    }
                    wire::bytes(&mut out, if boolean { 2 } else { 1 }, &struct_message(&props, value.as_object()));
                }
                Value::Array(items) => {
                    for item in items {
                        match item {
                            Value::Str(s) => wire::bytes(&mut out, 2, s.as_bytes()),
                            other => wire::bytes(&mut out, 2, &struct_message(&props, other.as_object())),
                        }
                    }
                }
                _ => {}
            }
        }
    }
    out
}

/// Return the value to encode for an unset non-pointer: each has a message, if only an empty one.
#[inline]
pub(super) fn zero(shape: &Shape) -> Value {
    match shape {
        Shape::Str => Value::str(""),
        _ => Value::Null,
    }
}
