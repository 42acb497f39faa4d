//! Cells shared by the rows of volumes and claims.

use hydrofoil_types::Value;

use crate::table::Subject;
use hydrofoil_types::read::Read;

/// Return the phase, unless deletion has begun.
pub fn phase<'a>(of: &Subject<'a>) -> &'a str {
    if of.deleting() { "Terminating" } else { of.status().text("phase") }
}

/// `GetPersistentVolumeClass` and `GetPersistentVolumeClaimClass`: an old annotation takes precedence.
pub fn class<'a>(of: &Subject<'a>) -> &'a str {
    of.annotation("volume.beta.kubernetes.io/storage-class").unwrap_or_else(|| of.spec().text("storageClassName"))
}

/// `GetAccessModesAsString`.
pub fn modes(of: &[Value]) -> String {
    [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")]
        .into_iter()
        .filter(|(mode, _)| of.iter().any(|m| m.as_str() == Some(mode)))
        .map(|(_, short)| short)
        .collect::<Vec<_>>()
        .join(",")
}
