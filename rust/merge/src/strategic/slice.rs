//! Lists of a strategic merge patch.

#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use std::collections::{HashMap, HashSet};

use hydrofoil_types::{Map, Value, go};

use super::lookup::List;
use super::order::{self, Ident};
use super::{PATCH, merge_map, text};
use crate::PatchError;

/// Merge, delete from, or replace a list (`mergeSliceHandler`).
pub(super) fn merge_list(
    original: Vec<Value>,
    patch: Vec<Value>,
    list: &List<'_>,
    deletes: bool,
) -> Result<Vec<Value>, PatchError> {
    // Deletions apply with any strategy.
    if list.strategy != "merge" && !deletes {
        return Ok(patch);
    }
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    let of_maps = element_kind(&original, &patch)?;
    if !of_maps && deletes {
        let gone: HashSet<_> = patch.iter().filter_map(Ident::of).collect();
        let stays = |v: &Value| Ident::of(v).is_none_or(|i| !gone.contains(&i));
        return Ok(original.into_iter().filter(stays).collect());
    }
    if !of_maps {
        let mut seen = HashSet::new();
        let both = original.iter().chain(&patch);
        let merged = both.filter(|v| Ident::of(v).is_none_or(|i| seen.insert(i))).cloned().collect();
        return order::arrange(merged, &patch, &original, list.merge_key);
    }
    if list.merge_key.is_empty() {
        let kind = list.item.kind();
        return Err(PatchError::Internal(format!("cannot merge lists without merge key for {kind}")));
    }
    let (original, patch) = directives(original, patch, list.merge_key)?;
    // Only the keys of the patch and of the live list determine the order.
    let wanted = order::keys_only(&patch, list.merge_key);
    let live = order::keys_only(&original, list.merge_key);
    let merged = merge_items(original, patch, list)?;
    order::arrange(merged, &wanted, &live, list.merge_key)
}

/// Report whether the items are maps; all must be of one kind, which is not a list (`sliceElementType`).
pub(super) fn element_kind(original: &[Value], patch: &[Value]) -> Result<bool, PatchError> {
    let mut items = original.iter().chain(patch);
    let Some(first) = items.next() else {
        return Err(PatchError::Internal("no elements in any of the given slices".to_owned()));
    };
    if matches!(first, Value::Array(_)) {
        return Err(PatchError::Failed("lists of lists are not supported".to_owned()));
    }
    // Upstream panics on a null item, which also answers 500.
    let same = |v: &Value| std::mem::discriminant(v) == std::mem::discriminant(first);
    if *first == Value::Null || !items.all(same) {
        let (original, patch) = (go::plain_list(original), go::plain_list(patch));
        return Err(PatchError::Internal(format!("list element types are not identical: [{original} {patch}]")));
    }
    Ok(matches!(first, Value::Object(_)))
}

/// Apply the items that are directives (`mergeSliceWithSpecialElements`).
fn directives(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    merge_key: &str,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut gone = HashSet::new();
    let mut replace = false;
    for item in patch {
        let Some((map, directive)) = item.as_object().and_then(|m| Some((m, m.get(PATCH)?))) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let key = map.get(merge_key).ok_or_else(|| text::no_merge_key(map, merge_key))?;
                gone.extend(Ident::of(key));
            }
            Some("replace") => replace = true,
            Some("merge") => {
                return Err(PatchError::Internal("merging lists cannot yet be specified in the patch".to_owned()));
            }
            _ => return Err(text::unknown_directive(directive, map)),
        }
    }
    if replace {
        return Ok((plain, Vec::new()));
    }
    if !gone.is_empty() {
        original.retain(|v| v.get(merge_key).and_then(Ident::of).is_none_or(|i| !gone.contains(&i)));
    }
    Ok((original, plain))
}

/// Merge items of the same key, append the others (`mergeSliceWithoutSpecialElements`).
fn merge_items(original: Vec<Value>, patch: Vec<Value>, list: &List<'_>) -> Result<Vec<Value>, PatchError> {
    let mut merged = original;
    let mut places: HashMap<Ident, usize> = HashMap::new();
    for (at, item) in merged.iter().enumerate() {
        if let Some(ident) = item.get(list.merge_key).and_then(Ident::of) {
            places.entry(ident).or_insert(at);
        }
    }
    for item in patch {
        let Value::Object(item) = item else { continue };
        let key = item.get(list.merge_key).ok_or_else(|| text::no_merge_key(&item, list.merge_key))?;
        let ident = Ident::of(key);
        if let Some(at) = ident.as_ref().and_then(|i| places.get(i)) {
            let slot = &mut merged[*at];
            let here = match std::mem::take(slot) {
                Value::Object(map) => map,
                _ => Map::new(),
            };
            *slot = Value::Object(merge_map(here, item, &list.item)?);
        } else {
            places.extend(ident.map(|i| (i, merged.len())));
            merged.push(Value::Object(item));
        }
    }
    Ok(merged)
}
