//! Config maps (`pkg/registry/core/configmap/strategy.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::Strategy;
use hydrofoil_rules::check::{Check, NAMELESS};
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::{data, meta};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    validate: |_, object, causes| validate(object, causes),
    validate_update: |req, object, old, causes| {
        data::immutable(object, old, &[("data", false), ("binaryData", true)], causes);
        meta::create(req.kind, object, causes);
        validate(object, causes);
    },
    row: Some(row),
    ..Strategy::DEFAULT
};

const MAX_DATA: usize = 1024 * 1024;

fn validate(object: &Value, causes: &mut Causes) {
    let (data, binary) = (Path::new("data"), Path::new("binaryData"));
    let mut size = 0;
    for (key, value) in object.entries("data") {
        causes.format(&data.key(key), key, name::config_key);
        if object.field("binaryData").has(key) {
            causes.invalid_str(&data.key(key), key, "duplicate of key present in binaryData");
        }
        size += value.as_str().map_or(0, str::len);
    }
    for (key, value) in object.entries("binaryData") {
        causes.format(&binary.key(key), key, name::config_key);
        size += data::decoded_len(value.as_str().unwrap_or(""));
    }
    if size > MAX_DATA {
        // A path of one empty name is written so.
        causes.too_long(&NAMELESS, MAX_DATA);
    }
}

/// `printConfigMap`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let entries = subject.object.entries("data").len() + subject.object.entries("binaryData").len();
    cells![subject.name(), entries as i64, subject.age()]
}
