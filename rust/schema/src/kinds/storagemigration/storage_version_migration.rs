//! Storage version migrations (`pkg/registry/storagemigration/storagemigration/strategy.go`).

use hydrofoil_types::Value;

use crate::kind::{GenerationRule, Strategy, reset_metadata};
use crate::read::{Read, same_field};
use crate::rules::table::text::grouped;
use crate::rules::table::{Subject, cells};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    generation: GenerationRule::of(|new, old| !same_field(new, old, "spec")),
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `printStorageVersionMigration`.
fn row(of: &Subject<'_>) -> Vec<Value> {
    let resource = of.spec().field("resource");
    let known = |c: &Value| {
        let kind = ["Running", "Failed", "Succeeded"].into_iter().find(|k| *k == c.text("type"));
        kind.filter(|_| c.text("status") == "True")
    };
    let state = of.status().list("conditions").iter().rev().find_map(known);
    cells![of.name(), grouped(resource.text("resource"), resource.text("group")), state.unwrap_or("Unknown")]
}
