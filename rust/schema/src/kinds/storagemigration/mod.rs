//! Kinds of the group `storagemigration.k8s.io`.

mod storage_version_migration;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "StorageVersionMigration" => &storage_version_migration::STRATEGY,
        _ => return None,
    })
}
