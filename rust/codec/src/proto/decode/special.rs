//! Protobuf of types that are not plain structs.

#![allow(clippy::arithmetic_side_effects, reason = "nanoseconds lie within a second, and depths are bounded")]

use hydrofoil_types::{Arena, SmolStr, Special, Timestamp, Value};

use super::{message, text};
use crate::DecodeError;
use crate::json;
use crate::proto::wire::{Payload, Reader};

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
            let written =
                hydrofoil_types::Quantity::canonical_text(&given).map_err(|e| DecodeError::Type(e.to_owned()))?;
            Value::Str(written)
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
