//! Storage versions (`pkg/registry/apiserverinternal/storageversion/strategy.go`).

use hydrofoil_types::Value;

use crate::kind::{MetadataCheck, Strategy, reset_metadata};
use crate::read::Read;
use crate::rules::table::text::{deref, first_three};
use crate::rules::table::{Subject, cells};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    has_status: true,
    reset_fields: reset_metadata,
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[MetadataCheck::Object],
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `printStorageVersion`.
fn row(of: &Subject<'_>) -> Vec<Value> {
    let status = of.status();
    let versions = status
        .list("storageVersions")
        .iter()
        .map(|v| format!("{}={}", v.text("apiServerID"), v.text("encodingVersion")));
    cells![of.name(), deref(status, "commonEncodingVersion", "<unset>"), first_three(versions), of.age()]
}
