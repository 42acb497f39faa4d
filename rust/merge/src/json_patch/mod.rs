//! JSON patch (RFC 6902) as evanphx/json-patch v4 interprets it.

#![allow(clippy::arithmetic_side_effects, reason = "places and depths are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

mod items;
mod tree;

use hydrofoil_types::{Map, Value};

use crate::PatchError;
use crate::equal::equal;
use tree::Node;

/// The maximum number of operations of a patch (`maxJSONPatchOperations`).
pub(crate) const MAX_OPERATIONS: usize = 10_000;

/// The maximum number of bytes that all `copy` operations of a patch add (`JSONPatchMaxCopyBytes`).
const MAX_COPIED: usize = 3 << 20;

/// Apply a JSON patch, as `jsonPatcher` of apiserver `pkg/endpoints/handlers/patch.go` does.
///
/// After an error the target is partly patched: the caller discards it.
pub fn json_patch(target: &mut Value, patch: &Value) -> Result<(), PatchError> {
    let operations = operations(patch)?;
    if operations.len() > MAX_OPERATIONS {
        return Err(PatchError::TooMany(operations.len()));
    }
    let nothing = Map::new();
    let operations: Vec<&Map> = operations.iter().map(|o| o.as_object().unwrap_or(&nothing)).collect();
    let mut spent = Spent { copied: 0, depth: DEEPEST_READ };
    if operations.len() < MANY {
        return operations.iter().try_for_each(|o| one(target, o, &mut spent));
    }
    let mut doc = Node::Closed(std::mem::take(target));
    let done = operations.iter().try_for_each(|o| one(&mut doc, o, &mut spent));
    *target = doc.close();
    done
}

/// Apply one operation, unless the document could become too deep.
fn one(doc: &mut impl Document, operation: &Map, spent: &mut Spent) -> Result<(), PatchError> {
    let steps = operation.str("path").matches('/').count();
    let moves = matches!(operation.str("op"), "move" | "copy");
    let after = |depth: usize| depth.max(steps + if moves { depth } else { DEEPEST_READ });
    if after(spent.depth) > DEEPEST {
        spent.depth = doc.depth();
    }
    spent.depth = after(spent.depth);
    if spent.depth > DEEPEST {
        return Err(PatchError::Malformed("exceeded max depth".to_owned()));
    }
    apply(doc, operation, &mut spent.copied).map_err(PatchError::Failed)
}

/// The resources that operations have used.
struct Spent {
    /// The bytes added by copies.
    copied: usize,
    /// An upper bound of the depth of the document.
    depth: usize,
}

/// The maximum depth of a decoded document.
const DEEPEST_READ: usize = 1000;

/// The maximum depth of a document in between: copies double it, and recursion takes space on the stack.
const DEEPEST: usize = 2 * DEEPEST_READ;

/// The number of operations from which opening the containers on their paths pays.
const MANY: usize = 64;

/// The target of operations.
trait Document {
    /// A part that is moved within the document.
    type Part;
    /// Add a value at a path.
    fn put(&mut self, path: &str, value: Value) -> Result<(), String>;
    /// Add a removed part at a path.
    fn give(&mut self, path: &str, part: Self::Part) -> Result<(), String>;
    /// Remove the part at a path and return it.
    fn take(&mut self, path: &str) -> Result<Self::Part, String>;
    /// Replace the value at a path; a member of an object may be absent, as upstream does not check.
    fn exchange(&mut self, path: &str, value: Value) -> Result<(), String>;
    /// Replace the whole document.
    fn become_whole(&mut self, value: Value);
    /// Return the depth of nested containers.
    fn depth(&self) -> usize;
    /// Return a copy of the value at a path, and its approximate size in bytes of JSON.
    fn copy_at(&mut self, path: &str) -> Result<(Value, usize), String>;
    /// Report whether a path has the given value; an absent member equals null.
    fn is(&mut self, path: &str, value: &Value) -> Result<bool, String>;
}

/// Return the errors of strict field validation in a JSON patch: unknown members of operations.
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

/// Return the operations of a well-formed document.
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

/// Return the name of the kind of a value in Go's decoder.
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

fn apply(doc: &mut impl Document, operation: &Map, copied: &mut usize) -> Result<(), String> {
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
    let at = |why: String| operation_error(name, "path", path, &why);
    match name {
        "add" => doc.put(path, value.cloned().unwrap_or_default()).map_err(at),
        "remove" => doc.take(path).map(drop).map_err(at),
        "replace" if path.is_empty() => {
            let whole = value.filter(|v| matches!(v, Value::Object(_) | Value::Array(_)));
            doc.become_whole(whole.cloned().ok_or("replace operation value must be object or array")?);
            Ok(())
        }
        "replace" => doc.exchange(path, value.cloned().unwrap_or_default()).map_err(at),
        "move" => {
            let from = member("from")?;
            let moved = doc.take(from).map_err(|why| operation_error(name, "from path", from, &why))?;
            doc.give(path, moved).map_err(|why| operation_error(name, "destination path", path, &why))
        }
        "copy" => {
            let from = member("from")?;
            let (copy, bytes) = doc.copy_at(from).map_err(|why| operation_error(name, "from path", from, &why))?;
            *copied += bytes;
            if *copied > MAX_COPIED {
                return Err(format!(
                    "Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit {MAX_COPIED}"
                ));
            }
            doc.put(path, copy).map_err(|why| operation_error(name, "destination path", path, &why))
        }
        // An absent member equals null and the absence of a value: all are a nil node upstream.
        _ if doc.is(path, value.unwrap_or(&Value::Null)).map_err(at)? => Ok(()),
        _ => Err(format!("testing value {path} failed: test failed")),
    }
}

fn absent_member(name: &str) -> String {
    format!("Unable to remove nonexistent key: {name}: missing value")
}

/// The mark of an error that the containers on a path do not exist.
const MISSING: &str = "missing path";

fn missing() -> String {
    MISSING.to_owned()
}

/// Return an error in the words of an operation (json-patch v4 `patch.go`).
fn operation_error(operation: &str, part: &str, path: &str, why: &str) -> String {
    if why != MISSING {
        return match operation {
            // As in upstream.
            "replace" => format!("error in remove for path: '{path}': {why}"),
            "copy" if part == "from path" => format!("error in copy for from: '{path}': {why}"),
            _ => format!("error in {operation} for path: '{path}': {why}"),
        };
    }
    match operation {
        "add" | "remove" => {
            format!("{operation} operation does not apply: doc is missing path: \"{path}\": missing value")
        }
        "test" => format!("test operation does not apply: is missing path: {path}: missing value"),
        _ => format!("{operation} operation does not apply: doc is missing {part}: {path}: missing value"),
    }
}

/// Unescape a part of a pointer.
fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// Return the parts of a pointer and the last one; the text before the first slash is ignored.
fn split(path: &str) -> Result<(Vec<String>, String), String> {
    let mut parts: Vec<String> = path.split('/').skip(1).map(unescape).collect();
    let last = parts.pop().ok_or_else(missing)?;
    Ok((parts, last))
}

/// Return the container of the last part of a pointer, for change.
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
        .ok_or_else(missing)?;
    }
    Ok((here, last))
}

/// Return the value at a pointer; `None` for an absent member of an object.
fn read<'a>(doc: &'a Value, path: &str) -> Result<Option<&'a Value>, String> {
    let (parts, last) = split(path)?;
    let mut here = doc;
    for part in parts {
        here = match here {
            Value::Object(map) => map.get(&part),
            Value::Array(list) => index(&part, list.len()).ok().and_then(|at| list.get(at)),
            _ => None,
        }
        .ok_or_else(missing)?;
    }
    match here {
        Value::Object(map) => Ok(map.get(&last)),
        Value::Array(list) => Ok(list.get(index(&last, list.len())?)),
        _ => Err(missing()),
    }
}

/// Return the index in a list of `len`; negative ones count from the end.
fn index(text: &str, len: usize) -> Result<usize, String> {
    let n: i64 = text.parse().map_err(|_| format!("value was not a proper array index: '{text}'"))?;
    let len = len as i64;
    let at = if n < 0 { n + len } else { n };
    if (0..len).contains(&at) {
        return Ok(at as usize);
    }
    Err(format!("Unable to access invalid index: {n}: invalid index referenced"))
}

impl Document for Value {
    type Part = Self;

    fn put(&mut self, path: &str, value: Value) -> Result<(), String> {
        let (here, last) = holder(self, path)?;
        match here {
            Value::Object(map) => map.set(last, value),
            Value::Array(list) if last == "-" => list.push(value),
            // The index after the last item is valid, also for negative indices.
            Value::Array(list) => list.insert(index(&last, list.len() + 1)?, value),
            _ => return Err(missing()),
        }
        Ok(())
    }

    fn give(&mut self, path: &str, part: Self) -> Result<(), String> {
        self.put(path, part)
    }

    fn take(&mut self, path: &str) -> Result<Self, String> {
        let (here, last) = holder(self, path)?;
        match here {
            Value::Object(map) => map.remove(&last).ok_or_else(|| absent_member(&last)),
            Value::Array(list) => Ok(list.remove(index(&last, list.len())?)),
            _ => Err(missing()),
        }
    }

    fn exchange(&mut self, path: &str, value: Value) -> Result<(), String> {
        let (here, last) = holder(self, path)?;
        match here {
            Value::Object(map) => map.set(last, value),
            Value::Array(list) => {
                let at = index(&last, list.len())?;
                list[at] = value;
            }
            _ => return Err(missing()),
        }
        Ok(())
    }

    fn become_whole(&mut self, value: Value) {
        *self = value;
    }

    fn depth(&self) -> usize {
        match self {
            Value::Object(map) => 1 + map.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
            Value::Array(list) => 1 + list.iter().map(Document::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    fn copy_at(&mut self, path: &str) -> Result<(Value, usize), String> {
        let copy = read(self, path)?.cloned().unwrap_or_default();
        let bytes = size(&copy);
        Ok((copy, bytes))
    }

    fn is(&mut self, path: &str, value: &Value) -> Result<bool, String> {
        let found = if path.is_empty() { Some(&*self) } else { read(self, path)? };
        Ok(equal(found.unwrap_or(&Value::Null), value))
    }
}

/// Return the approximate size of a value in bytes of JSON.
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
