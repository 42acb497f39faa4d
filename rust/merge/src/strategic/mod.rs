//! Strategic merge patch.

mod lookup;
mod order;
mod slice;
mod text;

use hydrofoil_types::{Map, Schema, Value};

use crate::PatchError;
use crate::members::Members;
use lookup::Meta;

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList";
const ELEMENT_ORDER: &str = "$setElementOrder";

/// Apply a strategic merge patch to an object of a built-in type (`StrategicMergeMapPatch` of apimachinery
/// `pkg/util/strategicpatch/patch.go`).
///
/// Both sides are generic JSON. After an error the target is partly patched: the caller discards it.
pub fn strategic(schema: &Schema, target: &mut Value, patch: Value) -> Result<(), PatchError> {
    let Value::Object(patch) = patch else {
        return Err(PatchError::Malformed("invalid JSON document".to_owned()));
    };
    let original = match std::mem::take(target) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    *target = Value::Object(merge_map(original, patch, &Meta::root(schema))?);
    Ok(())
}

/// Merge maps as the server calls `mergeMap`: apply lists of deletions, drop unmatched nulls.
fn merge_map(mut original: Map, mut patch: Map, meta: &Meta<'_>) -> Result<Map, PatchError> {
    if let Some(directive) = patch.get(PATCH) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(PATCH);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(text::unknown_directive(directive, &patch)),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    element_orders(&mut original, &mut patch, meta)?;
    let mut original = Members::of(original, patch.len());
    for (key, value) in patch {
        let deletes = key.starts_with(DELETE_FROM);
        let key = if deletes { after_slash(&key, DELETE_FROM, "primitive list")?.into() } else { key };
        if value == Value::Null {
            original.remove(&key);
            continue;
        }
        let same_kind = original.get(&key).map(|o| std::mem::discriminant(o) == std::mem::discriminant(&value));
        match (same_kind, value) {
            (Some(true), Value::Object(value)) => {
                let (inner, strategy) = meta.object(&key)?;
                let slot = original.entry(key);
                let Value::Object(here) = std::mem::take(slot) else { continue };
                let merged = if strategy == "replace" { value } else { merge_map(here, value, &inner)? };
                *slot = Value::Object(merged);
            }
            (Some(true), Value::Array(value)) => {
                let list = meta.list(&key)?;
                let slot = original.entry(key);
                let Value::Array(here) = std::mem::take(slot) else { continue };
                *slot = Value::Array(slice::merge_list(here, value, &list, deletes)?);
            }
            (Some(true), value) => *original.entry(key) = value,
            (_, _) if deletes => {}
            (_, mut value) => {
                drop_nulls(&mut value);
                if drop_directives(&mut value) {
                    *original.entry(key) = value;
                } else {
                    original.remove(&key);
                }
            }
        }
    }
    Ok(original.into_map())
}

/// Return the field of a directive of the form `$directive/field`.
fn after_slash<'k>(key: &'k str, directive: &str, name: &str) -> Result<&'k str, PatchError> {
    match key.split_once('/') {
        Some((before, field)) if before == directive => Ok(field),
        _ => Err(bad_format(name)),
    }
}

fn bad_format(name: &str) -> PatchError {
    PatchError::Malformed(format!("invalid patch format of {name}"))
}

/// Remove all keys that the list does not name; the patch may set no others (`applyRetainKeysDirective`).
fn retain_keys(original: &mut Map, patch: &mut Map) -> Result<(), PatchError> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let keys = keys.as_array().ok_or_else(|| bad_format("retainKeys"))?;
    let named = |key: &str| keys.iter().any(|k| k.as_str() == Some(key));
    let fits = |key: &str, value: &Value| {
        *value == Value::Null || key.starts_with(DELETE_FROM) || key.starts_with(ELEMENT_ORDER) || named(key)
    };
    if !patch.iter().all(|(key, value)| fits(key, value)) {
        return Err(bad_format("retainKeys"));
    }
    original.retain(|key, _| named(key));
    Ok(())
}

/// Merge the lists with a requested order and remove them from the patch (`mergePatchIntoOriginal`).
fn element_orders(original: &mut Map, patch: &mut Map, meta: &Meta<'_>) -> Result<(), PatchError> {
    let directives: Vec<_> = patch.keys().filter(|k| k.starts_with(ELEMENT_ORDER)).cloned().collect();
    for directive in directives {
        let wanted = match patch.remove(&directive) {
            Some(Value::Array(items)) => items,
            other => return Err(text::not_a_list(&other.unwrap_or_default())),
        };
        let key = after_slash(&directive, ELEMENT_ORDER, "setElementOrder list")?;
        let live = original.get(key).map(text::as_list).transpose()?;
        let new = patch.get(key).map(text::as_list).transpose()?;
        let list = meta.list(key)?;
        order::check(new.unwrap_or(&[]), &wanted, list.merge_key)?;
        let live = live.map(<[Value]>::to_vec);
        let merged = match (live.clone(), new.map(<[Value]>::to_vec)) {
            (None, None) => continue,
            (Some(live), None) => live,
            (None, Some(mut new)) => {
                new.retain_mut(drop_directives);
                new
            }
            (Some(live), Some(new)) => slice::merge_list(live, new, &list, false)?,
        };
        let mut live = live.unwrap_or_default();
        let new = new.unwrap_or(&[]);
        let of_maps = slice::element_kind(&live, new)?;
        if let Some(Value::Object(item)) = merged.first().or(live.first())
            && of_maps
            && list.merge_key.is_empty()
        {
            // `validateMergeKeyInLists` requires a key even if the list has no merge key.
            return Err(text::no_merge_key(item, ""));
        }
        if of_maps && list.strategy == "merge" {
            live = order::live_after(live, new, list.merge_key);
        }
        let merged = order::arrange(merged, &wanted, &live, list.merge_key)?;
        original.set(key, merged);
        patch.remove(key);
    }
    Ok(())
}

/// Drop nulls of a new value, which delete nothing (`discardNullValuesFromPatch`).
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => map.retain(|_, v| {
            drop_nulls(v);
            *v != Value::Null
        }),
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Remove maps with directives from a new value; return false if the value itself is one (`removeDirectives`).
fn drop_directives(value: &mut Value) -> bool {
    match value {
        Value::Object(map) if map.contains_key(PATCH) => return false,
        Value::Object(map) => map.retain(|_, v| drop_directives(v)),
        Value::Array(items) => items.retain_mut(drop_directives),
        _ => {}
    }
    true
}

#[cfg(test)]
mod tests;
