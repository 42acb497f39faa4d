//! Leases.

use hydrofoil_types::Value;

use super::subject::Subject;
use crate::read::Read;

/// `printLease`.
pub(super) fn lease(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), of.spec().s("holderIdentity"), of.age()]
}

/// `printLeaseCandidate`.
pub(super) fn candidate(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    cells![of.name(), spec.s("leaseName"), spec.s("binaryVersion"), spec.s("emulationVersion"), of.age()]
}
