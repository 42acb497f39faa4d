//! Pruning of members that no schema names (apiextensions-apiserver `pkg/apiserver/schema/pruning`).

use std::fmt::Write as _;

use hydrofoil_types::Value;

use super::structural::{Additional, Node};

/// Members of an object that every resource has.
pub(super) const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Prune a whole object; return the removed paths, sorted.
pub fn object(value: &mut Value, schema: &Node) -> Vec<String> {
    let mut walk = Walk { path: String::new(), gone: Vec::new(), reported: true };
    walk.prune(value, Some(schema), true);
    walk.gone.sort();
    walk.gone
}

/// Prune a value by its schema.
pub(super) fn value(value: &mut Value, schema: &Node) {
    let mut walk = Walk { path: String::new(), gone: Vec::new(), reported: false };
    walk.prune(value, Some(schema), false);
}

struct Walk {
    path: String,
    gone: Vec<String>,
    reported: bool,
}

impl Walk {
    fn within(&mut self, key: &str, f: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if self.reported {
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(key);
        }
        f(self);
        self.path.truncate(length);
    }

    fn at(&mut self, index: usize, f: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if self.reported {
            let _ = write!(self.path, "[{index}]");
        }
        f(self);
        self.path.truncate(length);
    }

    fn prune(&mut self, value: &mut Value, schema: Option<&Node>, root: bool) {
        let embedded = root || schema.is_some_and(|s| s.embedded);
        let preserve = schema.is_some_and(|s| s.preserve);
        match value {
            Value::Object(map) => map.retain(|key, value| {
                if embedded && META.contains(&key) {
                    return true;
                }
                let known = schema.and_then(|s| match (s.property(key), &s.additional) {
                    (Some(node), _) => Some(Some(node)),
                    (None, Additional::Of(node)) => Some(Some(&**node)),
                    (None, Additional::Any(_)) => Some(None),
                    (None, Additional::Unsaid) => None,
                });
                match known {
                    Some(node) => self.within(key, |w| w.prune(value, node, false)),
                    None if preserve => {}
                    None => {
                        if self.reported {
                            self.within(key, |w| w.gone.push(w.path.clone()));
                        }
                        return false;
                    }
                }
                true
            }),
            Value::Array(items) => {
                let inner = schema.and_then(|s| s.items.as_deref());
                for (i, item) in items.iter_mut().enumerate() {
                    self.at(i, |w| match inner {
                        // Below a preserved object, only the schemas of the items count.
                        None if preserve => {}
                        Some(inner) if preserve && !inner.preserve => w.prune_kept(item, inner),
                        _ => w.prune(item, inner, false),
                    });
                }
            }
            _ => {}
        }
    }

    /// Prune named members below an item of a list that keeps unknown members; the item keeps its own (`skipPrune`).
    fn prune_kept(&mut self, value: &mut Value, schema: &Node) {
        match value {
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    if schema.embedded && META.contains(&key.as_str()) {
                        continue;
                    }
                    if let Some(node) = schema.property(key) {
                        self.within(key, |w| w.prune(value, Some(node), false));
                    } else if let Additional::Of(node) = &schema.additional {
                        self.within(key, |w| w.prune(value, Some(node), false));
                    }
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter_mut().enumerate() {
                    if let Some(inner) = schema.items.as_deref() {
                        self.at(i, |w| w.prune_kept(item, inner));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Drop nulls that are neither a value nor replaced by a default (`PruneNonNullableNullsWithoutDefaults`).
pub fn nulls(value: &mut Value, schema: Option<&Node>) {
    match value {
        Value::Object(map) => map.retain(|key, value| {
            let node = schema.and_then(|s| s.member(key));
            if matches!(value, Value::Null) {
                return !node.is_some_and(|n| !n.nullable && n.default.is_none());
            }
            if node.is_some() {
                nulls(value, node);
            }
            true
        }),
        Value::Array(items) => {
            if let Some(inner) = schema.and_then(|s| s.items.as_deref()) {
                for item in items {
                    nulls(item, Some(inner));
                }
            }
        }
        _ => {}
    }
}
