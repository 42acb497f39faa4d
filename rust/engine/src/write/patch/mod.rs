//! Patches of stored objects.
//!
//! Only the members of the object that the patch names are decoded, patched and encoded: all others stay unchanged,
//! even if they are most of the object.

mod outcome;
mod scope;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hydrofoil_codec::DecodeError;
use hydrofoil_codec::json::{self, RawForm};
use hydrofoil_merge as merge;
use hydrofoil_types::{SmolStr, Value};

use self::scope::Scope;
use super::raw;
use crate::error::Result;
use crate::kind::{Media, ObjectKind};
use crate::stored::{Stored, managed_fields};

/// The types of patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// `application/json-patch+json` (RFC 6902).
    Json,
    /// `application/merge-patch+json` (RFC 7386).
    Merge,
    /// `application/strategic-merge-patch+json`.
    Strategic,
}

impl PatchType {
    /// Return the type with a short name: `json`, `merge` or `strategic`.
    pub fn by_name(name: &str) -> Self {
        match name {
            "json" => Self::Json,
            "merge" => Self::Merge,
            _ => Self::Strategic,
        }
    }
}

/// Apply a JSON patch to a JSON document.
pub fn json_patch(document: &[u8], patch: &[u8]) -> Result<Vec<u8>> {
    let mut value = json::parse(document)?.value;
    merge::json_patch(&mut value, &json::parse(patch)?.value)?;
    Ok(json::encode_any(&value))
}

/// A patch of an object.
#[derive(Clone, Copy, Debug)]
pub struct Patch<'a> {
    /// Its type.
    pub patch_type: PatchType,
    /// The patch as sent.
    pub text: &'a [u8],
    /// Whether the result may have another type; a type in a strategic merge patch is always ignored.
    pub lenient: bool,
}

impl Patch<'_> {
    /// Apply the patch to a stored object in the version of a kind. Return the result, decoded like a body, and its
    /// strict errors.
    pub fn to(&self, kind: &Arc<dyn ObjectKind>, old: &Stored) -> Result<(Value, Vec<String>)> {
        let parsed = json::parse(self.text).map_err(|why| self.unread(why))?;
        let (mut patch, mut strict) = (parsed.value, parsed.strict);
        if self.patch_type == PatchType::Strategic {
            kind.clean_strategic(&mut patch);
        }
        let scope = Scope::of(&patch, self.patch_type, &kind.info().kind.kind);
        let text = kind.json(old.version())?;
        let text = scope.as_ref().map_or_else(|| text.clone(), |scope| Cow::Owned(scope.cut(&text)));
        // Most patches do not change managed fields, half the size of many objects: these are not decoded and encoded
        // then.
        let owners = if scope::names_owners(&patch) { None } else { managed_fields(&text) };
        let text = match owners.clone().and_then(|at| Some([text.get(..at.start)?, text.get(at.end..)?].concat())) {
            Some(rest) => Cow::Owned(rest),
            None => text,
        };
        let value = self.merge(&**kind, json::parse(&text)?.value, patch, &mut strict)?;
        let shown = outcome::Shown { patch: self, kind: &**kind, old };
        if scope.is_none() && self.patch_type != PatchType::Strategic && !self.lenient {
            kind.check_type(&value).map_err(|e| shown.of_another_type(e))?;
        }
        let (mut value, mut found) = self.decode_result(&shown, value)?;
        if self.patch_type == PatchType::Strategic {
            found.sort();
        }
        strict.append(&mut found);
        let before = old.value(kind)?;
        if owners.is_some()
            && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
            && let Some(kept) = before.at(&["metadata", "managedFields"])
        {
            metadata.set("managedFields", kept.clone());
        }
        if let Some(scope) = scope {
            match put_back(&scope, before.into_owned(), &mut value) {
                Some(whole) => value = whole,
                None => return Ok((value, strict)),
            }
        }
        let form = if self.patch_type == PatchType::Strategic { RawForm::Ordered } else { RawForm::Compact };
        raw::change(&**kind, &mut value, form);
        Ok((value, strict))
    }

    /// Return the error of a patch with a number that no float holds: upstream reads operations as a struct.
    fn unread(&self, why: DecodeError) -> DecodeError {
        match why {
            DecodeError::Type(text) if self.patch_type == PatchType::Json => {
                DecodeError::Syntax(text.replace("Go value of", "Go struct field jsonPatchOp.value of"))
            }
            DecodeError::Type(text) => DecodeError::Syntax(text),
            syntax @ DecodeError::Syntax(_) => syntax,
        }
    }

    /// Merge the patch into generic JSON.
    fn merge(&self, kind: &dyn ObjectKind, mut value: Value, patch: Value, strict: &mut Vec<String>) -> Result<Value> {
        // Upstream's library sorts the members of the objects it visits, which shows only in members that are kept as
        // text.
        let keeps_order = self.patch_type != PatchType::Strategic && kind.has_raw();
        let unordered = keeps_order.then(|| (value.clone(), patch.clone()));
        match self.patch_type {
            PatchType::Json => {
                for text in &mut *strict {
                    text.insert_str(0, "json patch ");
                }
                strict.extend(merge::json_patch_unknown(&patch));
                merge::json_patch(&mut value, &patch)?;
            }
            _ if patch.as_object().is_none() => return Err(outcome::no_object(&patch).into()),
            PatchType::Merge => merge::json_merge(&mut value, patch),
            PatchType::Strategic => merge::strategic(kind.ownership_schema(), &mut value, patch)?,
        }
        if let Some((before, patch)) = unordered {
            merge::order_outcome(&mut value, &before, &patch);
        }
        Ok(value)
    }

    /// Decode the generic JSON of a patched object.
    fn decode_result(&self, shown: &outcome::Shown<'_>, value: Value) -> Result<(Value, Vec<String>)> {
        if self.patch_type == PatchType::Strategic {
            let decoded = shown.kind.decode(&json::encode_any(&value), Media::Json);
            return decoded.or_else(|e| shown.restore(value, e));
        }
        // The library of these patches keeps the text of numbers: `1.0` is no integer, and differs from one.
        let decoded = shown.kind.decode(&json::encode_exact(&value), Media::Json);
        let (value, mut found) = decoded.map_err(|e| shown.refusal(e))?;
        if found.len() > 1
            && let Some((_, ordered)) =
                shown.whole().and_then(|text| shown.kind.decode(text.as_bytes(), Media::Json).ok())
        {
            // Upstream decodes the output of the library, whose members are sorted.
            found = ordered;
        }
        Ok((value, found))
    }
}

/// Put the patched members back into the whole object. `None` if one of the two is not an object.
fn put_back(scope: &Scope, mut whole: Value, patched: &mut Value) -> Option<Value> {
    let (into, from) = (whole.as_object_mut()?, patched.as_object_mut()?);
    let mut from: HashMap<SmolStr, Value> = std::mem::take(from).into_iter().collect();
    let mut gone: HashSet<&str> = HashSet::new();
    for name in scope.names() {
        match from.remove(name) {
            Some(member) => into.set(name.clone(), member),
            None => drop(gone.insert(name.as_str())),
        }
    }
    if !gone.is_empty() {
        into.retain(|name, _| !gone.contains(name));
    }
    Some(whole)
}
