//! JSON merge patch (RFC 7386) as evanphx/json-patch v4 interprets it.

use hydrofoil_types::{Map, Value};

use crate::members::Members;

/// Apply a merge patch to a target: null removes, objects merge, anything else replaces.
///
/// Unlike the RFC, a list loses the null members of its objects, unless it replaces an object (`merge.go`).
pub fn json_merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        let whole = target.as_object().is_some();
        *target = if whole { patch } else { prune_nulls(patch) };
        return;
    };
    if target.as_object().is_none() {
        *target = Value::Object(Map::new());
    }
    let Some(map) = target.as_object_mut() else { return };
    let mut members = Members::of(std::mem::take(map), patch.len());
    for (key, value) in patch {
        if value == Value::Null {
            members.remove(&key);
        } else {
            json_merge(members.entry(key), value);
        }
    }
    *map = members.into_map();
}

/// Return a value without null members; null items stay.
fn prune_nulls(value: Value) -> Value {
    match value {
        Value::Array(list) => Value::Array(list.into_iter().map(prune_nulls).collect()),
        Value::Object(map) => {
            let mut kept = Map::new();
            for (key, value) in map.into_iter().filter(|(_, value)| *value != Value::Null) {
                kept.push(key, prune_nulls(value));
            }
            Value::Object(kept)
        }
        other => other,
    }
}
