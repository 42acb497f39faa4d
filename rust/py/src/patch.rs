//! A stored object with a patch laid over it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use hydrofoil_codec::DecodeError;
use hydrofoil_codec::json;
use hydrofoil_codec::json::scan::{members, value_end};
use hydrofoil_merge as merge;
use hydrofoil_types::{SmolStr, Value};
use pyo3::prelude::*;

use crate::catalog::Typed;
use crate::error::{decode_error, patch_error};
use crate::stored::Stored;

/// The object that a patch makes, decoded as a body would be, and what a strict reader objects to; `kind` is `json`,
/// `merge` or `strategic`.
///
/// Only the members of the object that the patch names are read, patched and decoded: what it does not name stays as
/// it is, be it the larger part of the object by far.
pub(crate) fn patched(old: &Stored, typed: &Arc<Typed>, kind: &str, patch: &[u8]) -> PyResult<(Value, Vec<String>)> {
    let given = patch;
    let patch = json::parse(patch).map_err(|e| decode_error(&e))?;
    let mut strict = patch.strict;
    let patch = patch.value;
    let text = typed.json(&old.version)?;
    let named = if kind == "json" { named_by_paths(&patch) } else { named_by_members(&patch) };
    let named = named.map(|mut named| {
        // What is given as text becomes part of the data.
        if named.iter().any(|name| name == "stringData") && typed.kind.kind == "Secret" {
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
    if kind == "json" {
        for text in &mut strict {
            text.insert_str(0, "json patch ");
        }
        strict.extend(merge::json_patch_unknown(&patch));
        merge::json_patch(&mut value, &patch).map_err(|e| patch_error(&e))?;
    } else {
        if patch.as_object().is_none() {
            let found = if patch.as_array().is_some() { "array" } else { "value" };
            let text = format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
            return Err(patch_error(&merge::PatchError::Malformed(text)));
        }
        if kind == "merge" {
            merge::json_merge(&mut value, patch);
        } else {
            merge::strategic(typed.owned(), &mut value, patch).map_err(|e| patch_error(&e))?;
        }
    }
    let text = json::encode_any(&value);
    let (mut value, found) = typed.decode(&text, "json").map_err(|e| outcome(old, typed, kind, given, &text, e))?;
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
        for name in named {
            match from.remove(&name) {
                Some(member) => into.set(name, member),
                None => drop(into.remove(&name)),
            }
        }
        value = whole;
    }
    Ok((value, strict))
}

/// The error of a patch whose outcome is no object of the type: it shows the whole outcome, or what a strategic patch
/// says.
fn outcome(old: &Stored, typed: &Typed, kind: &str, patch: &[u8], decoded: &[u8], error: PyErr) -> PyErr {
    let Err(DecodeError::Type(message)) = json::decode(&typed.schema, decoded) else { return error };
    let whole = || {
        let patch = json::parse(patch).ok()?.value;
        if kind == "strategic" {
            return Some(hydrofoil_types::go::plain(&patch));
        }
        let before = json::parse(&typed.json(&old.version).ok()?).ok()?.value;
        let mut value = before.clone();
        if kind == "json" {
            merge::json_patch(&mut value, &patch).ok()?;
        } else {
            merge::json_merge(&mut value, patch.clone());
        }
        merge::order_outcome(&mut value, &before, &patch);
        String::from_utf8(json::encode_any(&value)).ok()
    };
    whole().map_or(error, |shown| crate::error::DecodeError::new_err(("patched", message, shown)))
}

/// The members that a merge patch or strategic merge patch names, when it is about single members only: neither about
/// the object as a whole, as directives are, nor about its type.
fn named_by_members(patch: &Value) -> Option<Vec<SmolStr>> {
    patch.as_object()?.keys().map(|name| is_plain(name).then(|| name.clone())).collect()
}

/// The same of a JSON patch: the first steps of its paths.
fn named_by_paths(patch: &Value) -> Option<Vec<SmolStr>> {
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
            if !out.iter().any(|known| known == name) {
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
    let mut out = vec![b'{'];
    for (name, member) in members(text) {
        if named.iter().any(|known| known.as_bytes() == &name[1..name.len() - 1]) {
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
