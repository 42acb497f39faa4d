//! Rules shared by storage classes and volume attributes classes.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::label;
use hydrofoil_types::read::Read;

/// Validate the name of a driver (`validateProvisioner`).
pub(super) fn provisioner(text: &str, at: &Path<'_>, causes: &mut Causes) {
    if text.is_empty() {
        causes.need(at);
    } else {
        let lower = text.to_lowercase();
        label::key(&lower, &mut |detail| causes.invalid_str(at, &lower, detail));
    }
}

/// Validate the parameters of a driver (`validateParameters`).
pub(super) fn parameters(object: &Value, causes: &mut Causes) {
    let at = Path::new("parameters");
    let (mut size, mut count) = (0, 0);
    for (key, value) in object.entries("parameters") {
        count += 1;
        if key.is_empty() {
            causes.invalid_str(&at, key, "field can not be empty.");
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if count > 512 {
        causes.push(&at, hydrofoil_types::CauseReason::TooLong, "Too long: may not be more than 512 bytes");
    }
    if size > 256 * 1024 {
        causes.too_long(&at, 256 * 1024);
    }
}
