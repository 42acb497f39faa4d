//! Migrations of stored versions.

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::grouped;
use crate::read::Read;

/// `printStorageVersionMigration`.
pub(super) fn migration(of: &Subject<'_>) -> Vec<Value> {
    let resource = of.spec().sub("resource");
    let known = |c: &Value| {
        let kind = ["Running", "Failed", "Succeeded"].into_iter().find(|k| *k == c.s("type"));
        kind.filter(|_| c.s("status") == "True")
    };
    let state = of.status().list("conditions").iter().rev().find_map(known);
    cells![of.name(), grouped(resource.s("resource"), resource.s("group")), state.unwrap_or("Unknown")]
}
