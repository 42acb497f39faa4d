//! Configurations of policies: merged as by an apply, without owners (apiserver `plugin/policy/mutating/patch/smd.go`).

use std::fmt::Write as _;

use hydrofoil_types::{Schema, Value};

use super::{ApplyError, merge};
use crate::place::{Atom, Place};
use crate::typed;

/// Merge a configuration into an object, both as generic JSON of the same type.
pub fn overlay(schema: &Schema, object: &Value, config: &Value) -> Result<Value, ApplyError> {
    let place = Place::root(schema);
    if let Some(why) = typed::config_problem(schema, config) {
        let why = why.split_once("): ").map_or(why.as_str(), |(_, rest)| rest);
        return Err(ApplyError::Internal(format!("failed to convert patch object to typed object: {why}")));
    }
    let mut found = Vec::new();
    atomics(place, config, &mut String::new(), &mut found);
    if !found.is_empty() {
        let found = found.join(", ");
        let why = format!("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {found}");
        return Err(ApplyError::Internal(why));
    }
    let live = place.canonical(object);
    Ok(merge::merge(place, Some(&live), Some(config)).unwrap_or_else(Value::object))
}

/// Collect the paths of lists and maps that would be replaced as a whole.
fn atomics(place: Place<'_>, value: &Value, path: &mut String, found: &mut Vec<String>) {
    let whole = match place.atom {
        Atom::Leaf => true,
        Atom::Free => matches!(value, Value::Array(_)),
        _ => false,
    };
    match value {
        Value::Object(map) => {
            if whole {
                found.push(path.clone());
            }
            for (key, value) in map {
                let length = path.len();
                path.push('.');
                path.push_str(key);
                if let Some(place) = place.member(key) {
                    atomics(place, value, path, found);
                }
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            if whole {
                found.push(path.clone());
                return;
            }
            for (at, item) in items.iter().enumerate() {
                let length = path.len();
                let _ = write!(path, "[{at}]");
                atomics(place.item(), item, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}
