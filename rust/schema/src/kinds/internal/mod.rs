//! Kinds of the group `internal.apiserver.k8s.io`.

mod storage_version;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "StorageVersion" => &storage_version::STRATEGY,
        _ => return None,
    })
}
