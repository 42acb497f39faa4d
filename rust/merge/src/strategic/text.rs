//! Upstream's messages (apimachinery `pkg/util/mergepatch/errors.go`), values as Go prints them.

use std::fmt::Write as _;

use hydrofoil_types::{Map, Value};

use crate::PatchError;

/// `ErrNoMergeKey`.
pub(super) fn no_merge_key(map: &Map, key: &str) -> PatchError {
    let mut out = String::new();
    object(&mut out, map);
    PatchError::Internal(format!("map: {out} does not contain declared merge key: {key}"))
}

/// `ErrBadPatchType`.
pub(super) fn unknown_directive(directive: &Value, map: &Map) -> PatchError {
    let name = match directive {
        Value::Str(s) => s.to_string(),
        Value::Int(n) => format!("%!s(int64={n})"),
        Value::Float(f) => format!("%!s(float64={f})"),
        Value::Bool(b) => format!("%!s(bool={b})"),
        Value::Null => "%!s(<nil>)".to_owned(),
        other => value_text(other),
    };
    let mut out = String::new();
    object(&mut out, map);
    PatchError::Internal(format!("unknown patch type: {name} in map: {out}"))
}

/// `ErrBadArgType` where a list belongs.
pub(super) fn not_a_list(value: &Value) -> PatchError {
    PatchError::Internal(format!("expected a []interface {{}}, but received a {}", go_type(value)))
}

/// `ErrBadArgType` where an object belongs.
pub(super) fn not_a_map(value: &Value) -> PatchError {
    PatchError::Internal(format!("expected a map[string]interface {{}}, but received a {}", go_type(value)))
}

/// The items of a list, or `ErrBadArgType`.
pub(super) fn as_list(value: &Value) -> Result<&[Value], PatchError> {
    value.as_array().ok_or_else(|| not_a_list(value))
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) | Value::Raw(_) => "map[string]interface {}",
    }
}

/// A list as `%v` prints it.
pub(super) fn list(items: &[Value]) -> String {
    let mut out = String::new();
    array(&mut out, items);
    out
}

/// A value as `%+v` prints it: maps by name.
pub fn printed(value: &Value) -> String {
    value_text(value)
}

fn value_text(value: &Value) -> String {
    let mut out = String::new();
    any(&mut out, value);
    out
}

fn any(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("<nil>"),
        // Writing to a string cannot fail.
        Value::Bool(b) => drop(write!(out, "{b}")),
        Value::Int(n) => drop(write!(out, "{n}")),
        Value::Float(f) => drop(write!(out, "{f}")),
        Value::Str(s) | Value::Raw(s) => out.push_str(s),
        Value::Array(items) => array(out, items),
        Value::Object(map) => object(out, map),
    }
}

fn array(out: &mut String, items: &[Value]) {
    out.push('[');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        any(out, item);
    }
    out.push(']');
}

fn object(out: &mut String, map: &Map) {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    out.push_str("map[");
    for (i, (key, value)) in members.into_iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        out.push_str(key);
        out.push(':');
        any(out, value);
    }
    out.push(']');
}
