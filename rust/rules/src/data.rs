//! The data of config maps and secrets.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_types::read::{Read, same_map};

/// Return how many bytes a base64 text holds.
pub fn decoded_len(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

/// Validate that an immutable object stays immutable, and its data with it.
///
/// Upstream compares by `reflect.DeepEqual`, for which a map without entries is not the same as none: only a request can
/// have one. The flag of a key is whether that counts; it does not where the default is a map.
pub fn immutable(new: &Value, old: &Value, keys: &[(&'static str, bool)], causes: &mut Causes) {
    const SET: &str = "field is immutable when `immutable` is set";
    if !old.flag("immutable") {
        return;
    }
    if !new.flag("immutable") {
        causes.forbidden(&Path::new("immutable"), SET);
    }
    for (key, nil_counts) in keys {
        let is_nil = |of: &Value| of.field(key).as_object().is_none();
        if !same_map(new, old, key) || (*nil_counts && is_nil(new) != is_nil(old)) {
            causes.forbidden(&Path::new(key), SET);
        }
    }
}
