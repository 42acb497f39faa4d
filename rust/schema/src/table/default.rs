//! Kinds without a printer (apiserver `pkg/registry/rest/table.go`).

use hydrofoil_types::Value;

use super::column;
use super::subject::Subject;
use crate::read::Read;

/// The name and the time of creation.
pub(super) fn columns() -> Vec<Value> {
    vec![column("Name", "string", "name", 0), column("Created At", "date", "", 0)]
}

pub(super) fn row(of: &Subject<'_>) -> Vec<Value> {
    let created = match of.object.sub("metadata").s("creationTimestamp") {
        "" => "0001-01-01T00:00:00Z",
        time => time,
    };
    cells![of.name(), created]
}
