//! The status of workloads: counts that must be consistent.

use hydrofoil_types::{Causes, Path, Value};

use crate::check::Check;
use crate::workload::counts;
use hydrofoil_types::read::Read;

const STATUS: Path<'static> = Path::new("status");
const TOTAL: &str = "cannot be greater than status.replicas";

/// Refuse negative counts of a status.
pub fn not_negative(status: &Value, keys: &[&str], causes: &mut Causes) {
    counts(status, keys, &STATUS, causes);
}

/// Refuse counts that are above that of the replicas.
pub fn within_replicas(status: &Value, keys: &[&str], causes: &mut Causes) {
    for key in keys {
        within(status, key, "replicas", TOTAL, causes);
    }
}

/// Refuse more available replicas than ready ones.
pub fn available(status: &Value, detail: &str, causes: &mut Causes) {
    within(status, "availableReplicas", "readyReplicas", detail, causes);
}

fn within(status: &Value, key: &str, most: &str, detail: &str, causes: &mut Causes) {
    if status.int(key) > status.int(most) {
        causes.invalid_int(&STATUS.child(key), status.int(key), detail);
    }
}

/// Refuse a count of hash collisions that decreases.
pub fn collisions(new: &Value, old: &Value, causes: &mut Causes) {
    if let Some(before) = old.opt_int("collisionCount") {
        let at = STATUS.child("collisionCount");
        match new.opt_int("collisionCount") {
            None => causes.invalid_int(&at, 0, "cannot be decremented"),
            Some(now) if now < before => causes.invalid_int(&at, now, "cannot be decremented"),
            Some(_) => {}
        }
    }
}

/// `ValidateReplicaSetStatus` and `ValidateReplicationControllerStatus`.
pub fn replicas(status: &Value, causes: &mut Causes) {
    let keys = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "terminatingReplicas",
        "observedGeneration",
    ];
    not_negative(status, &keys, causes);
    within_replicas(status, &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"], causes);
    available(status, "cannot be greater than readyReplicas", causes);
}
