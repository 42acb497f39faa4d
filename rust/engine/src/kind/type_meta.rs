//! The type of the result of a patch.

use hydrofoil_types::Value;

use super::TypeInfo;

/// The members of an object's type.
const TYPE_META: [&str; 2] = ["apiVersion", "kind"];

/// A type that is not the one of the patched object.
#[derive(Debug, PartialEq, Eq)]
pub enum TypeMismatch {
    /// A member of the type is not a string; Go's name of its kind.
    NoText(String),
    /// It is another `apiVersion` and kind.
    Other(String, String),
}

/// Compare the type in an object with the kind (`couldn't get version/kind` is of apimachinery
/// `pkg/runtime/serializer/json/meta.go`).
pub(super) fn check(info: &TypeInfo, object: &Value) -> Result<(), TypeMismatch> {
    for name in TYPE_META {
        if let Some(found) = object.get(name).filter(|v| !matches!(v, Value::Str(_) | Value::Null)) {
            let place = format!("Go struct field .{name} of type string");
            let text = format!("json: cannot unmarshal {} into {place}", go_name(found));
            return Err(TypeMismatch::NoText(format!("couldn't get version/kind; json parse error: {text}")));
        }
    }
    let [version, named] = TYPE_META.map(|name| object.get(name).and_then(Value::as_str).unwrap_or_default());
    if version == info.api_version && (named.is_empty() || named == info.kind.kind) {
        return Ok(());
    }
    Err(TypeMismatch::Other(version.to_owned(), named.to_owned()))
}

/// Remove the type from a strategic merge patch, unless it has directives for the whole object: these apply to the
/// members of the type, too.
pub(super) fn clean(patch: &mut Value) {
    let plain = !["$patch", "$retainKeys"].iter().any(|directive| patch.get(directive).is_some());
    if let Some(members) = patch.as_object_mut().filter(|_| plain) {
        for name in TYPE_META {
            if members.get(name).is_some_and(|value| matches!(value, Value::Str(_) | Value::Null)) {
                members.remove(name);
            }
        }
    }
}

/// Return the name of a JSON value in Go's decoder.
pub fn go_name(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Str(_) => "string",
        Value::Bool(_) => "bool",
        _ => "number",
    }
}
