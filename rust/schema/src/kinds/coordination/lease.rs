//! Leases (`pkg/registry/coordination/lease/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::Strategy;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::label;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::workload::counts;
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::Read;

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
    if let Some(subject) = spec.opt("strategy") {
        strategy(subject.as_str().unwrap_or(""), &SPEC.child("strategy"), causes);
    }
    if !spec.zero("preferredHolder") && spec.zero("strategy") {
        let detail = "may only be specified if `strategy` is defined";
        causes.forbidden(&SPEC.child("preferredHolder"), detail);
    }
}

/// The strategy that upstream defines.
pub(super) const OLDEST: &str = "OldestEmulationVersion";

/// `ValidateCoordinatedLeaseStrategy`, which names the field twice.
pub(super) fn strategy(strategy: &str, at: &Path<'_>, causes: &mut Causes) {
    let at = at.child("strategy");
    if strategy.contains('/') {
        causes.format(&at, strategy, label::key);
    } else {
        causes.one_of(&at, strategy, &[OLDEST]);
    }
}

/// Drop the fields of `CoordinatedLeaderElection`.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    if !release.enabled(Gate::CoordinatedLeaderElection) {
        hydrofoil_rules::gates::drop_unused(object, old, &["strategy", "preferredHolder"]);
    }
}

/// `printLease`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), subject.spec().text("holderIdentity"), subject.age()]
}
