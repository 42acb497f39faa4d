//! Sets and maps by keys (apiextensions-apiserver `pkg/apiserver/schema/listtype`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use std::collections::HashMap;

use hydrofoil_types::{Causes, Map, Path, SmolStr, Value};

use super::structural::{Additional, List, Node};

impl Node {
    /// Return the keys of a list by keys.
    pub(super) fn list_keys(&self) -> Option<&[SmolStr]> {
        match &self.list {
            List::Map(keys) => Some(keys),
            _ => None,
        }
    }
}

/// Return the old value for each item of a list by keys; nothing for lists of other types.
pub(super) fn counterparts<'a>(items: &[Value], before: &'a [Value], schema: &Node) -> Vec<Option<&'a Value>> {
    let Some(keys) = schema.list_keys() else { return vec![None; items.len()] };
    // Items that are not objects have no old value.
    let key = |item: &Value| -> Option<Vec<String>> {
        let item = item.as_object()?;
        Some(keys.iter().map(|key| item.get(key).map_or_else(String::new, Value::to_json)).collect())
    };
    let mut known: HashMap<Vec<String>, &Value> = HashMap::with_capacity(before.len());
    for item in before {
        if let Some(key) = key(item) {
            known.entry(key).or_insert(item);
        }
    }
    items.iter().map(|item| known.get(&key(item)?).copied()).collect()
}

/// Add a cause for each duplicate item.
pub fn unique(value: &Value, schema: &Node, path: &Path<'_>, causes: &mut Causes) {
    if !schema.keyed {
        return;
    }
    match value {
        Value::Object(map) => members(map, schema, path, causes),
        Value::Array(items) => {
            match &schema.list {
                List::Set => {
                    for i in find_repeats(items) {
                        causes.duplicate(&path.index(i), &items[i]);
                    }
                }
                List::Map(keys) => by_keys(items, keys, path, causes),
                List::Atomic => {}
            }
            if let Some(inner) = schema.items.as_deref() {
                for (i, item) in items.iter().enumerate() {
                    unique(item, inner, &path.index(i), causes);
                }
            }
        }
        _ => {}
    }
}

fn members(map: &Map, schema: &Node, path: &Path<'_>, causes: &mut Causes) {
    for (key, value) in map {
        if let Some(node) = schema.property(key) {
            unique(value, node, &path.child(key), causes);
        } else if let Additional::Of(node) = &schema.additional {
            unique(value, node, &path.key(key), causes);
        }
    }
}

fn by_keys(items: &[Value], keys: &[SmolStr], path: &Path<'_>, causes: &mut Causes) {
    for (i, item) in items.iter().enumerate() {
        if !matches!(item, Value::Null | Value::Object(_)) {
            return causes.invalid(&path.index(i), item, "must be an object for an array of list-type map");
        }
    }
    let of = |item: &Value| {
        let found = keys.iter().filter_map(|key| item.get(key).map(|v| (key.clone(), v.clone())));
        let mut map = Map::from_unique(found.collect());
        map.sort_keys();
        Value::Object(map)
    };
    let found: Vec<Value> = items.iter().map(of).collect();
    for i in find_repeats(&found) {
        causes.duplicate(&path.index(i), &found[i]);
    }
}

/// Return the places of values that were there once before, without a third one.
fn find_repeats(items: &[Value]) -> Vec<usize> {
    let mut out = Vec::new();
    if items.len() <= 1 {
        return out;
    }
    let mut seen: HashMap<String, u32> = HashMap::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let mut text = item.to_json();
        let values = item.as_object().into_iter().flat_map(|map| map.iter().map(|(_, value)| value));
        for value in std::iter::once(item).chain(values) {
            // A number that is not an integer never equals an integer.
            text.push(if matches!(value, Value::Float(_)) { 'f' } else { ' ' });
        }
        let times = seen.entry(text).or_default();
        *times += 1;
        if *times == 2 {
            out.push(i);
        }
    }
    out
}
