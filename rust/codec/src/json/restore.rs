//! Convert untyped JSON values to a type (apimachinery `pkg/runtime/converter.go`).
//!
//! Upstream does so with the result of a strategic merge patch: the messages differ from a decoder's, and numbers that
//! do not fit are truncated like Go's conversions.

use hydrofoil_types::{Arena, Schema, Shape, TypeId, Value};

use super::decode::problem;
use super::decode::special;
use super::encode::encode_any;

/// Convert the values to those that a decoder of the type returns.
///
/// # Errors
/// Upstream's message for the first value that cannot be converted.
pub fn restore(schema: &Schema, value: &mut Value) -> Result<(), String> {
    object(&schema.arena, schema.root, value)
}

fn object(arena: &Arena, id: TypeId, value: &mut Value) -> Result<(), String> {
    let found = kind(value);
    let Some(members) = value.as_object_mut() else { return Err(format!("cannot restore struct from: {found}")) };
    for field in &arena.get(id).fields {
        if let Some(member) = members.get_mut(&field.name) {
            restore_value(arena, &field.shape, member)?;
        }
    }
    Ok(())
}

fn restore_value(arena: &Arena, shape: &Shape, value: &mut Value) -> Result<(), String> {
    if matches!(value, Value::Null) {
        return Ok(());
    }
    let found = kind(value);
    match shape {
        Shape::Any => Ok(()),
        Shape::Str => match value {
            Value::Str(_) => Ok(()),
            Value::Int(_) => Err("cannot convert int64 to string".to_owned()),
            _ => Err("unrecognized type: string".to_owned()),
        },
        Shape::Bool => match value {
            Value::Bool(_) => Ok(()),
            _ => Err("unrecognized type: bool".to_owned()),
        },
        Shape::Int32 => integer(value, "int32", |n| i64::from(cut(n))),
        Shape::Int64 => integer(value, "int64", |n| n),
        Shape::Double => match value {
            Value::Int(_) | Value::Float(_) => Ok(()),
            _ => Err("unrecognized type: float64".to_owned()),
        },
        Shape::Bytes => match value {
            Value::Str(text) => {
                special::bytes(text).map(drop).map_err(|why| format!("error decoding from json: {why}"))
            }
            Value::Array(_) => Ok(()),
            _ => Err(format!("cannot restore slice from {found}")),
        },
        Shape::List(item) => match value {
            Value::Array(items) => items.iter_mut().try_for_each(|value| restore_value(arena, item, value)),
            _ => Err(format!("cannot restore slice from {found}")),
        },
        Shape::Map(item) => match value.as_object_mut() {
            Some(members) => members.iter_mut().try_for_each(|(_, value)| restore_value(arena, item, value)),
            None => Err(format!("cannot restore map from {found}")),
        },
        Shape::Type(id) if arena.get(*id).special.is_some() => {
            problem(arena, shape, &encode_any(value)).map_or(Ok(()), Err)
        }
        Shape::Type(id) => object(arena, *id, value),
    }
}

fn integer(value: &mut Value, name: &str, fit: impl Fn(i64) -> i64) -> Result<(), String> {
    let number = match value {
        Value::Int(n) => *n,
        Value::Float(f) if f.fract() == 0.0 => whole(f.get()),
        Value::Float(_) => return Err(format!("cannot convert float64 to {name}")),
        _ => return Err(format!("unrecognized type: {name}")),
    };
    *value = Value::Int(fit(number));
    Ok(())
}

#[allow(clippy::cast_possible_truncation, reason = "Go's conversion cuts off as well")]
fn cut(number: i64) -> i32 {
    number as i32
}

#[allow(clippy::cast_possible_truncation, reason = "Go leaves open what a float beyond the range becomes")]
fn whole(number: f64) -> i64 {
    number as i64
}

/// Return Go's name of the kind of a value (`reflect.Kind`).
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Str(_) => "string",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
        _ => "float64",
    }
}
