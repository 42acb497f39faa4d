//! Device taint rules (`pkg/registry/resource/devicetaintrule/strategy.go`).

use hydrofoil_types::{Timestamp, Value};

use super::taint;
use crate::kind::{GenerationRule, Strategy, reset_metadata};
use crate::read::{Read, Write};
use crate::rules::table::{Subject, cells};

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    generation: GenerationRule::FIRST,
    default,
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value, now: Timestamp) {
    object.within("spec", |s| s.within("taint", |t| taint::default(t, now)));
}

/// `printDeviceTaint`.
fn row(of: &Subject<'_>) -> Vec<Value> {
    let taint = of.spec().field("taint");
    let added = taint.opt("timeAdded").map_or_else(String::new, |t| of.since(t.as_str().unwrap_or("")));
    cells![of.name(), taint.text("key"), taint.text("value"), taint.text("effect"), added, of.age()]
}
