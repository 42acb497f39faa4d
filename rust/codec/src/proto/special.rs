//! Protobuf of types that are no plain structs.

#![allow(clippy::arithmetic_side_effects, reason = "nanoseconds lie within a second, and depths are bounded")]

use hydrofoil_types::{Arena, Schema, Shape, SmolStr, Special, Timestamp, Value};

use super::decode::{message, text};
use super::encode::struct_message;
use super::wire::{self, Payload, Reader};
use crate::DecodeError;
use crate::json;

const SECOND: i64 = 1_000_000_000;

pub(super) fn decode(arena: &Arena, kind: Special, data: &[u8], depth: usize) -> Result<Value, DecodeError> {
    let mut fields: Vec<(u32, Payload<'_>)> = Vec::new();
    let mut reader = Reader::new(data);
    while let Some(field) = reader.field()? {
        fields.push(field);
    }
    let number = |n: u32| {
        fields.iter().rev().find_map(|(f, p)| match p {
            Payload::Varint(v) if *f == n => Some(*v as i64),
            _ => None,
        })
    };
    let bytes = |n: u32| {
        fields.iter().rev().find_map(|(f, p)| match p {
            Payload::Bytes(b) if *f == n => Some(*b),
            _ => None,
        })
    };
    Ok(match kind {
        Special::Quantity => {
            let given = text(bytes(1).unwrap_or(b"0"))?;
            let parsed = hydrofoil_types::Quantity::parse(&given).map_err(|e| DecodeError::Type(e.to_owned()))?;
            Value::from(parsed.to_string())
        }
        Special::Time | Special::MicroTime => {
            if fields.is_empty() {
                return Ok(Value::Null);
            }
            let t = Timestamp { seconds: number(1).unwrap_or(0), nanos: number(2).unwrap_or(0) as u32 };
            Value::from(if kind == Special::Time { t.rfc3339() } else { t.rfc3339_micro() })
        }
        Special::Duration => Value::from(format!("{}s", number(1).unwrap_or(0) / SECOND)),
        Special::IntOrString if number(1) == Some(1) => Value::Str(text(bytes(3).unwrap_or(b""))?),
        Special::IntOrString => Value::Int(i64::from(number(2).unwrap_or(0) as i32)),
        Special::Json => match bytes(1) {
            None | Some(b"") => Value::Null,
            Some(raw) => json::parse(raw)?.value,
        },
        Special::Raw => match bytes(1) {
            None | Some(b"") => Value::Null,
            Some(raw) => {
                json::parse(raw)?;
                Value::Raw(SmolStr::new(String::from_utf8_lossy(raw.trim_ascii())))
            }
        },
        Special::Fields => match bytes(1) {
            None | Some(b"") => Value::Null,
            Some(raw) => {
                let text = json::encode_any(&json::parse(raw)?.value);
                Value::Raw(SmolStr::new(String::from_utf8_lossy(&text)))
            }
        },
        Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStrings => {
            let props = arena.get(json::props(arena));
            let schema_at = if kind == Special::SchemaOrBool { 2 } else { 1 };
            if let Some(b) = bytes(schema_at) {
                return message(arena, props, b, depth + 1);
            }
            if kind == Special::SchemaOrBool {
                Value::Bool(number(1).unwrap_or(0) != 0)
            } else {
                let mut items = Vec::new();
                for (_, payload) in fields.iter().filter(|(f, _)| *f == 2) {
                    let Payload::Bytes(b) = payload else { continue };
                    items.push(if kind == Special::SchemaOrArray {
                        message(arena, props, b, depth + 1)?
                    } else {
                        Value::Str(text(b)?)
                    });
                }
                Value::Array(items)
            }
        }
    })
}

/// The message of a special value; zero values as Go's generated code writes them.
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
                        // A schema allows what it describes.
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

/// Whether an unset value that is no pointer still has a message: all of them have, an empty one at least.
pub(super) fn zero(shape: &Shape) -> Value {
    match shape {
        Shape::Str => Value::str(""),
        _ => Value::Null,
    }
}
