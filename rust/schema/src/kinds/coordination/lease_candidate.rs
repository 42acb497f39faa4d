//! Lease candidates (`pkg/registry/coordination/leasecandidate/strategy.go`).

use hydrofoil_types::Value;

use crate::kind::Strategy;
use crate::read::Read;
use crate::rules::table::{Subject, cells};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_create_on_update: true,
    allow_unconditional_update: false,
    kube_finalizers: false,
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `printLeaseCandidate`.
fn row(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    cells![of.name(), spec.text("leaseName"), spec.text("binaryVersion"), spec.text("emulationVersion"), of.age()]
}
