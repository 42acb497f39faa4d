//! Leases (`pkg/registry/coordination/lease/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::Strategy;
use crate::read::Read;
use crate::rules::check::Check;
use crate::rules::table::{Subject, cells};
use crate::rules::workload::counts;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_create_on_update: true,
    allow_unconditional_update: false,
    kube_finalizers: false,
    drop_disabled,
    validate: |_, object, causes| validate(object, causes),
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `ValidateLease`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    if let Some(seconds) = spec.opt_int("leaseDurationSeconds").filter(|s| *s <= 0) {
        causes.invalid_int(&SPEC.child("leaseDurationSeconds"), seconds, "must be greater than 0");
    }
    counts(spec, &["leaseTransitions"], &SPEC, causes);
    let at = SPEC.child("strategy");
    if let Some(strategy) = spec.opt("strategy").map(|s| s.as_str().unwrap_or(""))
        && !strategy.contains('/')
        && !matches!(strategy, "OldestEmulationVersion")
    {
        causes.unsupported(&at, strategy, &["OldestEmulationVersion"]);
    }
    if !spec.zero("preferredHolder") && !spec.has("strategy") {
        let detail = "preferredHolder must not be set if strategy is unset";
        causes.forbidden(&SPEC.child("preferredHolder"), detail);
    }
}

/// Drop the fields of `CoordinatedLeaderElection`.
fn drop_disabled(object: &mut Value, old: Option<&Value>) {
    crate::rules::gates::drop_unused(object, old, &["strategy", "preferredHolder"]);
}

/// `printLease`.
fn row(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), of.spec().text("holderIdentity"), of.age()]
}
