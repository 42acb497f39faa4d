//! Upstream's messages (apimachinery `pkg/util/mergepatch/errors.go`), values as Go prints them.

use hydrofoil_types::{Map, Value, go};

use crate::PatchError;

/// Return `ErrNoMergeKey`.
pub(super) fn no_merge_key(map: &Map, key: &str) -> PatchError {
    let map = go::plain_map(map);
    PatchError::Internal(format!("map: {map} does not contain declared merge key: {key}"))
}

/// Return `ErrBadPatchType`.
pub(super) fn unknown_directive(directive: &Value, map: &Map) -> PatchError {
    let name = match directive {
        Value::Str(s) => s.to_string(),
        Value::Int(n) => format!("%!s(int64={n})"),
        Value::Float(f) => format!("%!s(float64={f})"),
        Value::Bool(b) => format!("%!s(bool={b})"),
        Value::Null => "%!s(<nil>)".to_owned(),
        other => go::plain(other),
    };
    let map = go::plain_map(map);
    PatchError::Internal(format!("unknown patch type: {name} in map: {map}"))
}

/// Return `ErrBadArgType` for a value that is not a list.
pub(super) fn not_a_list(value: &Value) -> PatchError {
    PatchError::Internal(format!("expected a []interface {{}}, but received a {}", go_type(value)))
}

/// Return `ErrBadArgType` for a value that is not an object.
pub(super) fn not_a_map(value: &Value) -> PatchError {
    PatchError::Internal(format!("expected a map[string]interface {{}}, but received a {}", go_type(value)))
}

/// Return the items of a list, or `ErrBadArgType`.
pub(super) fn as_list(value: &Value) -> Result<&[Value], PatchError> {
    value.as_array().ok_or_else(|| not_a_list(value))
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        other => go::kind(other),
    }
}
