//! Decode protobuf to a value in loose form.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]

mod special;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrofoil_types::{Arena, Field, Finite, Map, ProtoEntry, Schema, Shape, SmolStr, TypeDef, Value, go};

use super::MAGIC;
use super::wire::{Payload, Reader, malformed};
use crate::DecodeError;

const MAX_DEPTH: usize = 200;

/// Return the parts of an envelope: apiVersion, kind and the message.
pub fn unwrap(data: &[u8]) -> Result<(SmolStr, SmolStr, &[u8]), DecodeError> {
    if data.is_empty() {
        return Err(DecodeError::Syntax("empty data".to_owned()));
    }
    let Some(body) = data.strip_prefix(MAGIC) else {
        let text = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";
        return Err(DecodeError::Syntax(text.to_owned()));
    };
    let (mut version, mut kind, mut raw): (SmolStr, SmolStr, &[u8]) = (SmolStr::default(), SmolStr::default(), &[]);
    let mut reader = Reader::new(body);
    while let Some((number, payload)) = reader.field()? {
        match (number, payload) {
            (1, Payload::Bytes(meta)) => {
                let mut meta = Reader::new(meta);
                while let Some((number, payload)) = meta.field()? {
                    match (number, payload) {
                        (1, Payload::Bytes(b)) => version = text(b)?,
                        (2, Payload::Bytes(b)) => kind = text(b)?,
                        _ => {}
                    }
                }
            }
            (2, Payload::Bytes(b)) => raw = b,
            _ => {}
        }
    }
    Ok((version, kind, raw))
}

/// Decode an enveloped object of a known type. Unknown fields are ignored, as upstream does.
pub fn decode(schema: &Schema, data: &[u8]) -> Result<Value, DecodeError> {
    let (version, kind, raw) = unwrap(data)?;
    if version.is_empty() && kind.is_empty() && raw.is_empty() {
        return Err(malformed("Object 'Kind' is missing"));
    }
    let mut value = message(&schema.arena, schema.root(), raw, 0)?;
    if let Some(map) = value.as_object_mut() {
        if !version.is_empty() {
            map.set("apiVersion", version);
        }
        if !kind.is_empty() {
            map.set("kind", kind);
        }
    }
    Ok(value)
}

pub(super) fn text(bytes: &[u8]) -> Result<SmolStr, DecodeError> {
    std::str::from_utf8(bytes).map(SmolStr::new).map_err(|_| malformed("string is not UTF-8"))
}

pub(super) fn message(arena: &Arena, def: &TypeDef, data: &[u8], depth: usize) -> Result<Value, DecodeError> {
    let mut map = Map::new();
    fill(arena, def, &def.proto, data, &mut map, depth)?;
    Ok(Value::Object(map))
}

fn fill(
    arena: &Arena,
    def: &TypeDef,
    entries: &[ProtoEntry],
    data: &[u8],
    map: &mut Map,
    depth: usize,
) -> Result<(), DecodeError> {
    if depth > MAX_DEPTH {
        return Err(malformed("exceeded max depth"));
    }
    let mut reader = Reader::new(data);
    while let Some((number, payload)) = reader.field()? {
        let entry =
            entries.iter().find(|e| matches!(e, ProtoEntry::Field(n, _) | ProtoEntry::Group(n, _) if *n == number));
        match (entry, payload) {
            (Some(ProtoEntry::Group(_, inner)), Payload::Bytes(b)) => fill(arena, def, inner, b, map, depth + 1)?,
            (Some(ProtoEntry::Field(_, i)), payload) => {
                let field = &def.fields[usize::from(*i)];
                set(arena, field, payload, map, depth)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn set(arena: &Arena, field: &Field, payload: Payload<'_>, map: &mut Map, depth: usize) -> Result<(), DecodeError> {
    match &field.shape {
        Shape::List(item) if field.proto.wrapped => {
            let Payload::Bytes(data) = payload else { return Err(malformed("wrong wireType")) };
            map.set(field.name.clone(), decode_wrapper(arena, item, data, depth)?);
        }
        Shape::List(item) => {
            let list = map.entry(&field.name);
            if matches!(list, Value::Null) {
                *list = Value::Array(Vec::new());
            }
            let Some(items) = list.as_array_mut() else { return Ok(()) };
            match (payload, &**item) {
                // Packed numbers, which upstream accepts but does not write.
                (Payload::Bytes(data), Shape::Int32 | Shape::Int64) => {
                    let mut reader = Reader::new(data);
                    while let Ok(n) = reader.varint() {
                        items.push(Value::Int(n as i64));
                    }
                }
                _ => items.push(value(arena, item, payload, depth + 1)?),
            }
        }
        Shape::Map(of) => {
            let Payload::Bytes(data) = payload else { return Err(malformed("wrong wireType")) };
            let mut key = SmolStr::default();
            let mut found = None;
            let mut reader = Reader::new(data);
            while let Some((number, payload)) = reader.field()? {
                match (number, payload) {
                    (1, Payload::Bytes(b)) => key = text(b)?,
                    (2, Payload::Bytes(b)) if field.proto.wrapped => {
                        let Shape::List(item) = &**of else { return Err(malformed("wrong type")) };
                        found = Some(decode_wrapper(arena, item, b, depth)?);
                    }
                    (2, payload) => found = Some(value(arena, of, payload, depth + 1)?),
                    _ => {}
                }
            }
            let found = found.unwrap_or_else(|| zero(of));
            map.object_entry(&field.name).set(key, found);
        }
        shape => {
            let value = value(arena, shape, payload, depth)?;
            let special = matches!(shape, Shape::Type(id) if arena.get(*id).special.is_some());
            // Go writes the zero values of non-pointers; in loose form they are absent. An empty string is not zero for
            // `IntOrString`, nor an empty object for `RawExtension`.
            let zero = if special { matches!(value, Value::Null | Value::Int(0)) } else { value.is_zero() };
            if field.ptr || !zero {
                map.set(field.name.clone(), value);
            }
        }
    }
    Ok(())
}

/// Decode a message around a list of strings.
fn decode_wrapper(arena: &Arena, item: &Shape, data: &[u8], depth: usize) -> Result<Value, DecodeError> {
    let mut items = Vec::new();
    let mut reader = Reader::new(data);
    while let Some((number, payload)) = reader.field()? {
        if number == 1 {
            items.push(value(arena, item, payload, depth + 1)?);
        }
    }
    Ok(Value::Array(items))
}

/// Return the value of an entry of a map that omits it: Go's encoder does so for bytes that are nil.
fn zero(shape: &Shape) -> Value {
    match shape {
        Shape::Str | Shape::Bytes => Value::str(""),
        Shape::Int32 | Shape::Int64 => Value::Int(0),
        Shape::Bool => Value::Bool(false),
        Shape::Double => Value::Float(Finite::default()),
        Shape::List(_) | Shape::Map(_) | Shape::Any | Shape::Type(_) => Value::Null,
    }
}

/// Return a number that JSON can hold, which every object is shown and stored as.
fn finite(number: f64) -> Result<Value, DecodeError> {
    Value::float(number).ok_or_else(|| DecodeError::Type(go::unsupported_number(number)))
}

fn value(arena: &Arena, shape: &Shape, payload: Payload<'_>, depth: usize) -> Result<Value, DecodeError> {
    Ok(match (shape, payload) {
        (Shape::Str, Payload::Bytes(b)) => Value::Str(text(b)?),
        (Shape::Bytes, Payload::Bytes(b)) => Value::from(STANDARD.encode(b)),
        (Shape::Bool, Payload::Varint(n)) => Value::Bool(n != 0),
        (Shape::Int32, Payload::Varint(n)) => Value::Int(i64::from(n as i32)),
        (Shape::Int64, Payload::Varint(n)) => Value::Int(n as i64),
        (Shape::Double, Payload::Fixed64(n)) => finite(f64::from_bits(n))?,
        (Shape::Double, Payload::Fixed32(n)) => finite(f64::from(f32::from_bits(n)))?,
        (Shape::Type(id), Payload::Bytes(b)) => {
            let def = arena.get(*id);
            match def.special {
                Some(kind) => special::decode(arena, kind, b, depth)?,
                None => message(arena, def, b, depth + 1)?,
            }
        }
        _ => return Err(malformed("wrong wireType")),
    })
}
