//! Persistent volumes and claims.

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::{deref, quantity};
use crate::read::Read;

/// `printPersistentVolume`.
pub(super) fn volume(of: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (of.spec(), of.status());
    let claim = spec.opt("claimRef").map_or_else(String::new, |c| format!("{}/{}", c.s("namespace"), c.s("name")));
    cells![
        of.name(),
        quantity(spec.sub("capacity"), "storage"),
        modes(spec.list("accessModes")),
        spec.s("persistentVolumeReclaimPolicy"),
        phase(of),
        claim,
        class(of),
        deref(spec, "volumeAttributesClassName", "<unset>"),
        status.s("reason"),
        of.age(),
        deref(spec, "volumeMode", "<unset>"),
    ]
}

/// `printPersistentVolumeClaim`.
pub(super) fn claim(of: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (of.spec(), of.status());
    let volume = spec.s("volumeName");
    let (mut capacity, mut access) = (String::new(), String::new());
    if !volume.is_empty() {
        capacity = quantity(status.sub("capacity"), "storage");
        access = modes(status.list("accessModes"));
    }
    cells![
        of.name(),
        phase(of),
        volume,
        capacity,
        access,
        class(of),
        deref(spec, "volumeAttributesClassName", "<unset>"),
        of.age(),
        deref(spec, "volumeMode", "<unset>"),
    ]
}

fn phase<'a>(of: &Subject<'a>) -> &'a str {
    if of.deleting() { "Terminating" } else { of.status().s("phase") }
}

/// `GetPersistentVolumeClass` and `GetPersistentVolumeClaimClass`: an old annotation goes first.
fn class<'a>(of: &Subject<'a>) -> &'a str {
    of.annotation("volume.beta.kubernetes.io/storage-class").unwrap_or_else(|| of.spec().s("storageClassName"))
}

/// `GetAccessModesAsString`.
fn modes(of: &[Value]) -> String {
    [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")]
        .into_iter()
        .filter(|(mode, _)| of.iter().any(|m| m.as_str() == Some(mode)))
        .map(|(_, short)| short)
        .collect::<Vec<_>>()
        .join(",")
}
