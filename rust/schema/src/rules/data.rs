//! The data of config maps and secrets.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use crate::read::{Read, same_map};

/// Return how many bytes a base64 text holds.
pub(crate) fn decoded_len(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

/// Validate that an immutable object stays immutable, and its data with it.
pub(crate) fn immutable(new: &Value, old: &Value, keys: &[&'static str], causes: &mut Causes) {
    const SET: &str = "field is immutable when `immutable` is set";
    if !old.flag("immutable") {
        return;
    }
    if !new.flag("immutable") {
        causes.forbidden(&Path::new("immutable"), SET);
    }
    for key in keys {
        if !same_map(new, old, key) {
            causes.forbidden(&Path::new(key), SET);
        }
    }
}
