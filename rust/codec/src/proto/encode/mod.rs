//! Encode a value as protobuf, as Go's generated code does: every non-pointer field, zero or not.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]

mod special;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrofoil_types::{Field, Map, ProtoEntry, Schema, Shape, TypeDef, Value};

use super::MAGIC;
use super::wire::{self, tag, varint};
use crate::json::find_member;

/// Return the bare message of an object.
pub fn encode(schema: &Schema, value: &Value) -> Vec<u8> {
    struct_message(schema, value.as_object())
}

/// Return a message in its envelope.
pub fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let mut out = envelope_head(api_version, kind, b"", raw.len() as u64);
    out.extend_from_slice(raw);
    out.extend_from_slice(&ENVELOPE_TAIL);
    out
}

/// The end of an envelope after its message: an empty content encoding and content type.
pub const ENVELOPE_TAIL: [u8; 4] = [0x1a, 0, 0x22, 0];

/// Return an envelope up to the beginning of its message, to be followed by `rest` more bytes of it.
pub fn envelope_head(api_version: &str, kind: &str, begin: &[u8], rest: u64) -> Vec<u8> {
    let mut meta = Vec::new();
    wire::bytes(&mut meta, 1, api_version.as_bytes());
    wire::bytes(&mut meta, 2, kind.as_bytes());
    let mut out = Vec::with_capacity(begin.len() + meta.len() + 24);
    out.extend_from_slice(MAGIC);
    wire::bytes(&mut out, 1, &meta);
    tag(&mut out, 2, 2);
    varint(&mut out, begin.len() as u64 + rest);
    out.extend_from_slice(begin);
    out
}

/// Return the metadata field of a list message.
pub fn list_head(revision: &str, token: &str, remaining: Option<i64>) -> Vec<u8> {
    let mut meta = Vec::new();
    wire::bytes(&mut meta, 1, b"");
    wire::bytes(&mut meta, 2, revision.as_bytes());
    wire::bytes(&mut meta, 3, token.as_bytes());
    if let Some(n) = remaining {
        wire::number(&mut meta, 4, n);
    }
    let mut out = Vec::new();
    wire::bytes(&mut out, 1, &meta);
    out
}

/// Append one item of a list message.
pub fn item(raw: &[u8], out: &mut Vec<u8>) {
    wire::bytes(out, 2, raw);
}

/// Append a watch frame: its length in four bytes, then a bare `WatchEvent` around an enveloped object.
pub fn watch_event(kind: &str, object: &[u8], out: &mut Vec<u8>) {
    let mut extension = Vec::with_capacity(object.len() + 8);
    wire::bytes(&mut extension, 1, object);
    let mut event = Vec::with_capacity(extension.len() + 24);
    wire::bytes(&mut event, 1, kind.as_bytes());
    wire::bytes(&mut event, 2, &extension);
    out.extend_from_slice(&(event.len() as u32).to_be_bytes());
    out.extend_from_slice(&event);
}

/// Return a `PartialObjectMetadata` of the metadata.
pub fn metadata_message(meta: &Schema, value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    wire::bytes(&mut out, 1, &struct_message(meta, value.as_object()));
    out
}

pub(super) fn struct_message(schema: &Schema, members: Option<&Map>) -> Vec<u8> {
    let def = schema.root();
    let mut out = Vec::new();
    entries(schema, def, &def.proto, members, &mut out);
    out
}

fn entries(schema: &Schema, def: &TypeDef, list: &[ProtoEntry], members: Option<&Map>, out: &mut Vec<u8>) {
    let given = members.map_or(&[][..], |m| m.iter().as_slice());
    for entry in list {
        match entry {
            ProtoEntry::Group(number, inner) => {
                let mut data = Vec::new();
                entries(schema, def, inner, members, &mut data);
                wire::bytes(out, *number, &data);
            }
            ProtoEntry::Field(number, i) => {
                let field = &def.fields[usize::from(*i)];
                let value = find_member(members, given, &field.name).filter(|v| !matches!(v, Value::Null));
                write_field(schema, field, *number, value, out);
            }
        }
    }
}

fn write_field(schema: &Schema, field: &Field, number: u32, value: Option<&Value>, out: &mut Vec<u8>) {
    match (&field.shape, value) {
        (Shape::List(item), Some(Value::Array(items))) if field.proto.wrapped => {
            wire::bytes(out, number, &encode_wrapper(schema, item, items));
        }
        (Shape::List(item), Some(Value::Array(items))) => {
            for v in items {
                write(schema, item, number, v, out);
            }
        }
        (Shape::Map(of), Some(Value::Object(map))) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            for (key, v) in members {
                let mut entry = Vec::new();
                wire::bytes(&mut entry, 1, key.as_bytes());
                match (&**of, v) {
                    (Shape::List(item), Value::Array(items)) if field.proto.wrapped => {
                        wire::bytes(&mut entry, 2, &encode_wrapper(schema, item, items));
                    }
                    _ => write(schema, of, 2, v, &mut entry),
                }
                wire::bytes(out, number, &entry);
            }
        }
        (Shape::List(_) | Shape::Map(_) | Shape::Any, _) | (Shape::Bytes, None) => {}
        (_, None) if field.ptr => {}
        (shape, None) => write(schema, shape, number, &special::zero(shape), out),
        (shape, Some(v)) => write(schema, shape, number, v, out),
    }
}

fn encode_wrapper(schema: &Schema, item: &Shape, items: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    for v in items {
        write(schema, item, 1, v, &mut out);
    }
    out
}

fn write(schema: &Schema, shape: &Shape, number: u32, value: &Value, out: &mut Vec<u8>) {
    match shape {
        Shape::Str => wire::bytes(out, number, value.as_str().unwrap_or("").as_bytes()),
        Shape::Bytes => {
            // The decoder has checked that the string is base64.
            let data = STANDARD.decode(value.as_str().unwrap_or("")).unwrap_or_default();
            wire::bytes(out, number, &data);
        }
        Shape::Int32 | Shape::Int64 => wire::number(out, number, value.as_int().unwrap_or(0)),
        Shape::Bool => wire::number(out, number, i64::from(value.as_bool().unwrap_or(false))),
        Shape::Double => {
            let f = match value {
                Value::Float(f) => f.get(),
                Value::Int(n) => *n as f64,
                _ => 0.0,
            };
            tag(out, number, 1);
            out.extend_from_slice(&f.to_le_bytes());
        }
        Shape::Type(id) => {
            let def = schema.arena.get(*id);
            let data = if let Some(kind) = def.special {
                special::encode(&schema.arena, kind, value)
            } else {
                let mut data = Vec::new();
                entries(schema, def, &def.proto, value.as_object(), &mut data);
                data
            };
            tag(out, number, 2);
            varint(out, data.len() as u64);
            out.extend_from_slice(&data);
        }
        Shape::List(_) | Shape::Map(_) | Shape::Any => {}
    }
}
