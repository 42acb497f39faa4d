//! Fields behind feature gates.

use hydrofoil_types::Value;

use hydrofoil_types::read::{Read, Write};

/// Drop fields of the spec that the old object does not use.
pub fn drop_unused(object: &mut Value, old: Option<&Value>, keys: &[&str]) {
    object.within("spec", |s| {
        for key in keys {
            if !old.is_some_and(|o| o.field("spec").has(key)) {
                s.drop(key);
            }
        }
    });
}
