//! JSON patch (RFC 6902) with the readings of evanphx/json-patch v4.

#![allow(clippy::arithmetic_side_effects, reason = "places and depths are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

mod items;
mod tree;

use hydrofoil_types::{Map, Value};

use crate::PatchError;
use crate::equal::equal;
use tree::Node;

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
    let mut spent = Spent { copied: 0, depth: DEEPEST_READ };
    if operations.len() < MANY {
        return operations.iter().try_for_each(|o| one(target, o, &mut spent));
    }
    let mut doc = Node::Closed(std::mem::take(target));
    let done = operations.iter().try_for_each(|o| one(&mut doc, o, &mut spent));
    *target = doc.close();
    done
}

/// Does one operation, unless the document could become too deep to be walked.
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

/// What operations have used up.
struct Spent {
    /// The bytes that copies have added.
    copied: usize,
    /// How deep the document is at most.
    depth: usize,
}

/// How deep what was read may be.
const DEEPEST_READ: usize = 1000;

/// How deep a document may become in between: copies double it, and each walk takes room on the stack.
const DEEPEST: usize = 2 * DEEPEST_READ;

/// From how many operations on it is worth to open what they lead through.
const MANY: usize = 64;

/// What operations are done on.
trait Document {
    /// What is taken from one place to another.
    type Part;
    /// Puts a value at a place.
    fn put(&mut self, path: &str, value: Value) -> Result<(), String>;
    /// Puts what was taken at a place.
    fn give(&mut self, path: &str, part: Self::Part) -> Result<(), String>;
    /// Takes out what is at a place.
    fn take(&mut self, path: &str) -> Result<Self::Part, String>;
    /// Puts a value in the place of another; a member of an object may be absent, as upstream never looks.
    fn exchange(&mut self, path: &str, value: Value) -> Result<(), String>;
    /// Puts a value in the place of all.
    fn become_whole(&mut self, value: Value);
    /// How many containers stand in each other.
    fn depth(&self) -> usize;
    /// A copy of what is at a place, and about how many bytes of JSON that is.
    fn copied(&mut self, path: &str) -> Result<(Value, usize), String>;
    /// Whether a value is at a place; at that of an absent member null is.
    fn is(&mut self, path: &str, value: &Value) -> Result<bool, String>;
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
    match name {
        "add" => doc.put(path, value.cloned().unwrap_or_default()),
        "remove" => doc.take(path).map(drop),
        "replace" if path.is_empty() => {
            let whole = value.filter(|v| matches!(v, Value::Object(_) | Value::Array(_)));
            doc.become_whole(whole.cloned().ok_or("replace operation value must be object or array")?);
            Ok(())
        }
        "replace" => doc.exchange(path, value.cloned().unwrap_or_default()),
        "move" => {
            let moved = doc.take(member("from")?)?;
            doc.give(path, moved)
        }
        "copy" => {
            let (copy, bytes) = doc.copied(member("from")?)?;
            *copied += bytes;
            if *copied > MAX_COPIED {
                return Err(format!(
                    "Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit {MAX_COPIED}"
                ));
            }
            doc.put(path, copy)
        }
        // An absent member equals null and no value at all: all are a nil node upstream.
        _ if doc.is(path, value.unwrap_or(&Value::Null))? => Ok(()),
        _ => Err(format!("testing value {path} failed: test failed")),
    }
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

impl Document for Value {
    type Part = Self;

    fn put(&mut self, path: &str, value: Value) -> Result<(), String> {
        let (here, last) = holder(self, path)?;
        match here {
            Value::Object(map) => map.set(last, value),
            Value::Array(list) if last == "-" => list.push(value),
            // The place after the last item counts as one, for negative indices too.
            Value::Array(list) => list.insert(index(&last, list.len() + 1)?, value),
            _ => return Err(missing(path)),
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
            _ => Err(missing(path)),
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
            _ => return Err(missing(path)),
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

    fn copied(&mut self, path: &str) -> Result<(Value, usize), String> {
        let copy = read(self, path)?.cloned().unwrap_or_default();
        let bytes = size(&copy);
        Ok((copy, bytes))
    }

    fn is(&mut self, path: &str, value: &Value) -> Result<bool, String> {
        let found = if path.is_empty() { Some(&*self) } else { read(self, path)? };
        Ok(equal(found.unwrap_or(&Value::Null), value))
    }
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
