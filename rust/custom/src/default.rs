//! Defaults of a schema (apiextensions-apiserver `pkg/apiserver/schema/defaulting/algorithm.go`).

use hydrofoil_types::Value;

use super::structural::{Additional, Node};

/// Fill the defaults of a value by its schema; filling again changes nothing.
pub fn apply(value: &mut Value, schema: &Node) {
    if !schema.defaulted {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, node) in &schema.properties {
                let Some(default) = &node.default else { continue };
                match map.get(key) {
                    None => map.push(key.clone(), (**default).clone()),
                    Some(Value::Null) if !node.nullable => map.set(key.clone(), (**default).clone()),
                    Some(_) => {}
                }
            }
            for (key, value) in map.iter_mut() {
                if let Some(node) = schema.property(key) {
                    apply(value, node);
                } else if let Additional::Of(node) = &schema.additional {
                    fill(value, node);
                    apply(value, node);
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = schema.items.as_deref() {
                for item in items {
                    fill(item, inner);
                    apply(item, inner);
                }
            }
        }
        _ => {}
    }
}

/// Replace a null that is not a value by the default.
fn fill(value: &mut Value, schema: &Node) {
    if matches!(value, Value::Null)
        && !schema.nullable
        && let Some(default) = &schema.default
    {
        *value = (**default).clone();
    }
}
