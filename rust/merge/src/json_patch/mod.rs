//! JSON patch (RFC 6902) with the readings of evanphx/json-patch v4.

mod run;

use hydrofoil_types::{Map, Value};

use crate::PatchError;
use crate::equal::equal;

/// How many operations one patch may have (`maxJSONPatchOperations`).
pub(crate) const MAX_OPERATIONS: usize = 10_000;

/// How many bytes all `copy` operations of a patch may add (`JSONPatchMaxCopyBytes`).
const MAX_COPIED: usize = 3 << 20;

/// Applies a JSON patch, as `jsonPatcher` of apiserver `pkg/endpoints/handlers/patch.go` does.
///
/// After an error the target is half patched: the caller throws it away.
pub fn json_patch(target: &mut Value, patch: &Value) -> Result<(), PatchError> {
    let operations = operations(patch)?;
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::TooMany(operations.len()));
    }
    let nothing = Map::new();
    let operations: Vec<&Map> = operations.iter().map(|o| o.as_object().unwrap_or(&nothing)).collect();
    let (mut copied, mut left) = (0, operations.as_slice());
    while !left.is_empty() {
        let (row, rest) = left.split_at(run::length(left).max(1));
        let applied = run::apply(target, row)
            .unwrap_or_else(|| row.iter().try_for_each(|operation| apply(target, operation, &mut copied)));
        applied.map_err(PatchError::Failed)?;
        left = rest;
    }
    Ok(())
}

/// What strict field validation finds in a JSON patch: members that no operation has.
pub fn json_patch_unknown(patch: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (i, operation) in patch.as_array().unwrap_or(&[]).iter().enumerate() {
        let Some(members) = operation.as_object() else { continue };
        for key in members.keys().filter(|k| !matches!(k.as_str(), "op" | "path" | "from" | "value")) {
            found.push(format!("json patch unknown field \"[{i}].{key}\""));
        }
    }
    found
}

/// The operations of a document whose form is right.
fn operations(patch: &Value) -> Result<&[Value], PatchError> {
    let wrong = |what: &Value, into: &str, of: &str| {
        PatchError::Malformed(format!("json: cannot unmarshal {} into Go {into} of type {of}", kind(what)))
    };
    let list = match patch {
        Value::Array(list) => list.as_slice(),
        Value::Null => &[],
        other => return Err(wrong(other, "value", "[]handlers.jsonPatchOp")),
    };
    for operation in list {
        let members = match operation {
            Value::Object(members) => members,
            Value::Null => continue,
            other => return Err(wrong(other, "value", "handlers.jsonPatchOp")),
        };
        for name in ["op", "from", "path"] {
            match members.get(name) {
                None | Some(Value::Null | Value::Str(_)) => {}
                Some(other) => return Err(wrong(other, &format!("struct field jsonPatchOp.{name}"), "string")),
            }
        }
    }
    Ok(list)
}

/// The name that Go's decoder has for the kind of a value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::Str(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) | Value::Raw(_) => "object",
    }
}

fn apply(doc: &mut Value, operation: &Map, copied: &mut usize) -> Result<(), String> {
    let name = operation.get("op").and_then(Value::as_str).unwrap_or("unknown");
    if !matches!(name, "add" | "remove" | "replace" | "move" | "test" | "copy") {
        return Err(format!("Unexpected kind: {name}"));
    }
    let member = |key: &str| {
        let text = operation.get(key).and_then(Value::as_str);
        text.ok_or_else(|| format!("{name} operation failed to decode {key}: missing value"))
    };
    let path = member("path")?;
    let value = operation.get("value");
    match name {
        "add" => add(doc, path, value.cloned().unwrap_or_default()),
        "remove" => remove(doc, path).map(drop),
        "replace" => replace(doc, path, value.cloned().unwrap_or_default()),
        "move" => {
            let moved = remove(doc, member("from")?)?;
            add(doc, path, moved)
        }
        "copy" => {
            let copy = read(doc, member("from")?)?.cloned().unwrap_or_default();
            *copied += size(&copy);
            if *copied > MAX_COPIED {
                return Err(format!(
                    "Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit {MAX_COPIED}"
                ));
            }
            add(doc, path, copy)
        }
        _ => {
            let found = if path.is_empty() { Some(&*doc) } else { read(doc, path)? };
            same(found, value, path)
        }
    }
}

/// Whether a test holds. An absent member equals null and no value at all: all are a nil node upstream.
fn same(found: Option<&Value>, value: Option<&Value>, path: &str) -> Result<(), String> {
    let holds = equal(found.unwrap_or(&Value::Null), value.unwrap_or(&Value::Null));
    if holds { Ok(()) } else { Err(format!("testing value {path} failed: test failed")) }
}

fn absent_member(name: &str) -> String {
    format!("Unable to remove nonexistent key: {name}: missing value")
}

fn missing(path: &str) -> String {
    format!("operation does not apply: doc is missing path: \"{path}\": missing value")
}

/// What a part of a pointer stands for.
fn pointed(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// The parts of a pointer, of which what stands before the first slash does not count.
fn split(path: &str) -> Result<(Vec<String>, String), String> {
    let mut parts: Vec<String> = path.split('/').skip(1).map(pointed).collect();
    let last = parts.pop().ok_or_else(|| missing(path))?;
    Ok((parts, last))
}

/// The container that holds the last part of a pointer, for change.
fn holder<'a>(doc: &'a mut Value, path: &str) -> Result<(&'a mut Value, String), String> {
    let (parts, last) = split(path)?;
    let mut here = doc;
    for part in parts {
        here = match here {
            Value::Object(map) => map.get_mut(&part),
            Value::Array(list) => match index(&part, list.len()) {
                Ok(at) => list.get_mut(at),
                Err(_) => None,
            },
            _ => None,
        }
        .ok_or_else(|| missing(path))?;
    }
    Ok((here, last))
}

/// The value at a pointer; `None` for an absent member of an object.
fn read<'a>(doc: &'a Value, path: &str) -> Result<Option<&'a Value>, String> {
    let (parts, last) = split(path)?;
    let mut here = doc;
    for part in parts {
        here = match here {
            Value::Object(map) => map.get(&part),
            Value::Array(list) => index(&part, list.len()).ok().and_then(|at| list.get(at)),
            _ => None,
        }
        .ok_or_else(|| missing(path))?;
    }
    match here {
        Value::Object(map) => Ok(map.get(&last)),
        Value::Array(list) => Ok(list.get(index(&last, list.len())?)),
        _ => Err(missing(path)),
    }
}

/// The place of an index in a list of `len`; negative ones count from the end.
fn index(text: &str, len: usize) -> Result<usize, String> {
    let n: i64 = text.parse().map_err(|_| format!("value was not a proper array index: '{text}'"))?;
    let len = len as i64;
    let at = if n < 0 { n + len } else { n };
    if (0..len).contains(&at) {
        return Ok(at as usize);
    }
    Err(format!("Unable to access invalid index: {n}: invalid index referenced"))
}

fn add(doc: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let (here, last) = holder(doc, path)?;
    match here {
        Value::Object(map) => map.set(last, value),
        Value::Array(list) if last == "-" => list.push(value),
        // The place after the last item counts as one, for negative indices too.
        Value::Array(list) => list.insert(index(&last, list.len() + 1)?, value),
        _ => return Err(missing(path)),
    }
    Ok(())
}

fn remove(doc: &mut Value, path: &str) -> Result<Value, String> {
    let (here, last) = holder(doc, path)?;
    match here {
        Value::Object(map) => map.remove(&last).ok_or_else(|| absent_member(&last)),
        Value::Array(list) => Ok(list.remove(index(&last, list.len())?)),
        _ => Err(missing(path)),
    }
}

/// Replaces; a member of an object may be absent, as upstream never looks.
fn replace(doc: &mut Value, path: &str, value: Value) -> Result<(), String> {
    if path.is_empty() {
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            return Err("replace operation value must be object or array".to_owned());
        }
        *doc = value;
        return Ok(());
    }
    let (here, last) = holder(doc, path)?;
    match here {
        Value::Object(map) => map.set(last, value),
        Value::Array(list) => {
            let at = index(&last, list.len())?;
            list[at] = value;
        }
        _ => return Err(missing(path)),
    }
    Ok(())
}

/// About how many bytes of JSON a value is.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Int(_) | Value::Float(_) => 8,
        Value::Str(s) => s.len() + 2,
        Value::Raw(text) => text.len(),
        Value::Array(list) => 2 + list.iter().map(|v| size(v) + 1).sum::<usize>(),
        Value::Object(map) => 2 + map.iter().map(|(k, v)| k.len() + 4 + size(v)).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests;
