//! A stored object with a patch laid over it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use hydrofoil_codec::DecodeError;
use hydrofoil_codec::json::scan::{members, value_end};
use hydrofoil_codec::json::{self, RawForm};
use hydrofoil_merge as merge;
use hydrofoil_types::{Seen, SmolStr, Value};
use pyo3::prelude::*;

use crate::error::{decode_error, patch_error};
use crate::stored::Stored;
use crate::typed::Typed;

/// The object that a patch makes, decoded as a body would be, and what a strict reader objects to; `kind` is `json`,
/// `merge` or `strategic`.
///
/// Only the members of the object that the patch names are read, patched and decoded: what it does not name stays as
/// it is, be it the larger part of the object by far.
///
/// An outcome that names another type is told as an error, for a built-in type and unless it is `lenient`; the type that
/// a strategic merge patch names does not count.
pub(crate) fn patched(
    old: &Stored,
    typed: &Arc<Typed>,
    kind: &str,
    patch: &[u8],
    lenient: bool,
) -> PyResult<(Value, Vec<String>)> {
    let given = patch;
    let patch = json::parse(patch).map_err(|e| decode_error(&e))?;
    let mut strict = patch.strict;
    let mut patch = patch.value;
    if kind == "strategic" && typed.custom.is_none() {
        if matches!(patch, Value::Null) {
            patch = Value::object();
        }
        // The directives of the root are about these members too.
        let plain = !["$patch", "$retainKeys"].iter().any(|directive| patch.get(directive).is_some());
        if let Some(members) = patch.as_object_mut().filter(|_| plain) {
            for name in TYPE_META {
                if members.get(name).is_some_and(|value| matches!(value, Value::Str(_) | Value::Null)) {
                    members.remove(name);
                }
            }
        }
    }
    let text = typed.json(&old.version)?;
    let named = if kind == "json" { named_by_paths(&patch) } else { named_by_members(&patch) };
    let named = named.map(|mut named| {
        // What is given as text becomes part of the data.
        let names = |wanted: &str| named.iter().any(|name| name == wanted);
        if names("stringData") && !names("data") && typed.kind.kind == "Secret" {
            named.push(SmolStr::new_static("data"));
        }
        named
    });
    let text = named.as_ref().map_or_else(|| text.clone(), |named| Cow::Owned(only(&text, named)));
    // Most patches leave the owners alone, who make up half of many objects: these are not read and written again.
    let owners = if names_owners(&patch) { None } else { owners(&text) };
    let text = match &owners {
        Some(at) => Cow::Owned([&text[..at.start], &text[at.end..]].concat()),
        None => text,
    };
    let mut value = json::parse(&text).map_err(|e| decode_error(&e))?.value;
    // What upstream's library looks into has its members by name then, which only texts that are kept as given show.
    let unordered = (kind != "strategic" && typed.has_raw()).then(|| (value.clone(), patch.clone()));
    if kind == "json" {
        for text in &mut strict {
            text.insert_str(0, "json patch ");
        }
        strict.extend(merge::json_patch_unknown(&patch));
        merge::json_patch(&mut value, &patch).map_err(|e| patch_error(&e))?;
    } else {
        if patch.as_object().is_none() {
            return Err(patch_error(&merge::PatchError::Malformed(no_object(&patch))));
        }
        if kind == "merge" {
            merge::json_merge(&mut value, patch);
        } else {
            merge::strategic(typed.owned(), &mut value, patch).map_err(|e| patch_error(&e))?;
        }
    }
    if let Some((before, patch)) = unordered {
        merge::order_outcome(&mut value, &before, &patch);
    }
    if named.is_none() && typed.custom.is_none() && kind != "strategic" && !lenient {
        check_type(old, typed, kind, given, &value)?;
    }
    let text = json::encode_any(&value);
    let decoded = match typed.decode(&text, "json") {
        Err(e) if kind == "strategic" => restored(typed, given, value, &text, e),
        other => other.map_err(|e| outcome(old, typed, kind, given, &text, e)),
    };
    let (mut value, mut found) = decoded?;
    if found.len() > 1
        && kind != "strategic"
        && let Some((_, ordered)) =
            whole(old, typed, kind, given).and_then(|text| typed.decode(text.as_bytes(), "json").ok())
    {
        // Upstream reads what the library writes, whose members are sorted.
        found = ordered;
    }
    if kind == "strategic" {
        found.sort();
    }
    strict.extend(found);
    let before = old.value(typed)?;
    if owners.is_some()
        && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
        && let Some(kept) = before.at(&["metadata", "managedFields"])
    {
        metadata.set("managedFields", kept.clone());
    }
    if let Some(named) = named {
        let mut whole = before.into_owned();
        let (Some(into), Some(from)) = (whole.as_object_mut(), value.as_object_mut()) else {
            return Ok((value, strict));
        };
        let mut from: HashMap<SmolStr, Value> = std::mem::take(from).into_iter().collect();
        let mut gone = HashSet::new();
        for name in named {
            match from.remove(&name) {
                Some(member) => into.set(name, member),
                None => drop(gone.insert(name)),
            }
        }
        if !gone.is_empty() {
            into.retain(|name, _| !gone.contains(name));
        }
        value = whole;
    }
    typed.change_raw(&mut value, if kind == "strategic" { RawForm::Ordered } else { RawForm::Compact });
    Ok((value, strict))
}

const TYPE_META: [&str; 2] = ["apiVersion", "kind"];

/// What Go says of a patch that should be an object.
fn no_object(patch: &Value) -> String {
    match patch {
        // Go reads null as an empty object; the library that merges does not.
        Value::Null => "Invalid JSON Patch".to_owned(),
        other => format!("json: cannot unmarshal {} into Go value of type map[string]interface {{}}", go_name(other)),
    }
}

/// What Go's decoder calls a JSON value.
fn go_name(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Str(_) => "string",
        Value::Bool(_) => "bool",
        _ => "number",
    }
}

/// Refuses an outcome whose type is not that of the object: the type that it names, and what it looks like.
fn check_type(old: &Stored, typed: &Typed, kind: &str, patch: &[u8], value: &Value) -> PyResult<()> {
    let shown = || whole(old, typed, kind, patch).unwrap_or_default();
    for name in TYPE_META {
        if let Some(found) = value.get(name).filter(|v| !matches!(v, Value::Str(_) | Value::Null)) {
            let place = format!("Go struct field .{name} of type string");
            let text = format!("json: cannot unmarshal {} into {place}", go_name(found));
            let text = format!("couldn't get version/kind; json parse error: {text}");
            return Err(crate::error::DecodeError::new_err(("patched", text, shown())));
        }
    }
    let [version, named] = TYPE_META.map(|name| value.get(name).and_then(Value::as_str).unwrap_or_default());
    if version == typed.api_version && (named.is_empty() || named == typed.kind.kind) {
        return Ok(());
    }
    Err(crate::error::DecodeError::new_err(("type meta", version.to_owned(), named.to_owned(), shown())))
}

/// The outcome of a strategic merge patch that no decoder takes, made an object of the type as Go's conversion does.
fn restored(
    typed: &Typed,
    patch: &[u8],
    mut value: Value,
    decoded: &[u8],
    error: PyErr,
) -> PyResult<(Value, Vec<String>)> {
    let Err(DecodeError::Type(_)) = json::decode(&typed.schema, decoded) else { return Err(error) };
    match json::restore(&typed.schema, &mut value) {
        Ok(()) => typed.decode(&json::encode_any(&value), "json"),
        Err(text) => match json::parse(patch) {
            Ok(patch) => {
                Err(crate::error::DecodeError::new_err(("patched", text, hydrofoil_types::go::plain(&patch.value))))
            }
            Err(_) => Err(error),
        },
    }
}

/// The error of a patch whose outcome is no object of the type: it shows the whole outcome.
fn outcome(old: &Stored, typed: &Typed, kind: &str, patch: &[u8], decoded: &[u8], error: PyErr) -> PyErr {
    let message = match json::decode(&typed.schema, decoded) {
        Err(DecodeError::Type(message)) => message,
        // What a definition says of embedded objects is found after reading.
        Ok(_) if typed.custom.is_some() => match refusal(&error) {
            Some(message) => message,
            None => return error,
        },
        _ => return error,
    };
    whole(old, typed, kind, patch)
        .map_or(error, |shown| crate::error::DecodeError::new_err(("patched", message, shown)))
}

/// The text of an error about types.
fn refusal(error: &PyErr) -> Option<String> {
    let (kind, text): (String, String) = Python::attach(|py| error.value(py).getattr("args")?.extract()).ok()?;
    (kind == "type").then_some(text)
}

/// The whole outcome of a merge patch or JSON patch, as the library that patches writes it.
fn whole(old: &Stored, typed: &Typed, kind: &str, patch: &[u8]) -> Option<String> {
    let patch = json::parse(patch).ok()?.value;
    let before = json::parse(&typed.json(&old.version).ok()?).ok()?.value;
    let mut value = before.clone();
    if kind == "json" {
        merge::json_patch(&mut value, &patch).ok()?;
    } else {
        merge::json_merge(&mut value, patch.clone());
    }
    merge::order_outcome(&mut value, &before, &patch);
    String::from_utf8(json::encode_any(&value)).ok()
}

/// The members that a merge patch or strategic merge patch names, when it is about single members only: neither about
/// the object as a whole, as directives are, nor about its type.
fn named_by_members(patch: &Value) -> Option<Vec<SmolStr>> {
    patch.as_object()?.keys().map(|name| is_plain(name).then(|| name.clone())).collect()
}

/// The same of a JSON patch: the first steps of its paths.
fn named_by_paths(patch: &Value) -> Option<Vec<SmolStr>> {
    let mut seen = Seen::default();
    let mut out: Vec<SmolStr> = Vec::new();
    for operation in patch.as_array()? {
        for (key, value) in operation.as_object()? {
            if !matches!(key.as_str(), "path" | "from") {
                continue;
            }
            let name = value.as_str()?.strip_prefix('/')?.split('/').next()?;
            if !is_plain(name) {
                return None;
            }
            if seen.insert(name) {
                out.push(SmolStr::new(name));
            }
        }
    }
    Some(out)
}

/// Whether a name is that of a member as the encoder writes it, and not of the type.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()) && !matches!(name, "apiVersion" | "kind")
}

/// An object with those members only.
fn only(text: &[u8], named: &[SmolStr]) -> Vec<u8> {
    let named: Seen<&[u8]> = named.iter().map(|known| known.as_bytes()).collect();
    let mut out = vec![b'{'];
    for (name, member) in members(text) {
        if named.contains(&&name[1..name.len() - 1]) {
            if out.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(name);
            out.push(b':');
            out.extend_from_slice(member);
        }
    }
    out.push(b'}');
    out
}

/// Whether a patch says anything of managed fields, as a member or in a path.
fn names_owners(patch: &Value) -> bool {
    match patch {
        Value::Array(items) => items.iter().any(names_owners),
        Value::Object(members) => members.iter().any(|(name, value)| {
            name == "managedFields"
                || names_owners(value)
                || (matches!(name.as_str(), "path" | "from") && value.as_str().is_some_and(touches))
        }),
        _ => false,
    }
}

/// Whether a pointer of a JSON patch may lead to managed fields: to them, or to what contains them.
fn touches(pointer: &str) -> bool {
    pointer.contains("managedFields") || matches!(pointer, "" | "/metadata")
}

/// Where the member `managedFields` of the metadata stands in the JSON of an object, with one comma.
///
/// Quotes within texts are escaped, so that the name with bare quotes before a list is the member.
pub(crate) fn owners(text: &[u8]) -> Option<Range<usize>> {
    const NAME: &[u8] = br#","managedFields":["#;
    let start = memchr::memmem::find(text, NAME)?;
    let length = value_end(&text[start + NAME.len() - 1..])?;
    Some(start..start + NAME.len() - 1 + length)
}
