//! Storage versions.

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::{deref, first_three};
use crate::read::Read;

/// `printStorageVersion`.
pub(super) fn storage_version(of: &Subject<'_>) -> Vec<Value> {
    let status = of.status();
    let versions =
        status.list("storageVersions").iter().map(|v| format!("{}={}", v.s("apiServerID"), v.s("encodingVersion")));
    cells![of.name(), deref(status, "commonEncodingVersion", "<unset>"), first_three(versions), of.age()]
}
