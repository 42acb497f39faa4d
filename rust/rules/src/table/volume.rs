//! Cells shared by the rows of volumes and claims.

use hydrofoil_types::Value;

use crate::table::Subject;
use hydrofoil_types::read::Read;

/// Return the phase, unless deletion has begun.
pub fn phase<'a>(subject: &Subject<'a>) -> &'a str {
    if subject.deleting() { "Terminating" } else { subject.status().text("phase") }
}

/// `GetPersistentVolumeClass` and `GetPersistentVolumeClaimClass`: an old annotation takes precedence.
pub fn class<'a>(subject: &Subject<'a>) -> &'a str {
    subject
        .annotation("volume.beta.kubernetes.io/storage-class")
        .unwrap_or_else(|| subject.spec().text("storageClassName"))
}

/// `GetAccessModesAsString`.
pub fn modes(given: &[Value]) -> String {
    [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")]
        .into_iter()
        .filter(|(mode, _)| given.iter().any(|m| m.as_str() == Some(mode)))
        .map(|(_, short)| short)
        .collect::<Vec<_>>()
        .join(",")
}
