//! The status of workloads: counts that fit together.

use hydrofoil_types::{Causes, Path, Value};

use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::workload::counts;

const STATUS: Path<'static> = Path::new("status");

/// The status of a workload.
pub(super) fn update(kind: &str, new: &Value, old: &Value, causes: &mut Causes) {
    const TOTAL: &str = "cannot be greater than status.replicas";
    let at = &STATUS;
    let above = |key: &str, than: &str, detail: &str, causes: &mut Causes| {
        if new.i(key) > new.i(than) {
            causes.invalid_int(&at.child(key), new.i(key), detail);
        }
    };
    match kind {
        "Deployment" => {
            let keys = [
                "observedGeneration",
                "replicas",
                "updatedReplicas",
                "readyReplicas",
                "availableReplicas",
                "unavailableReplicas",
                "terminatingReplicas",
                "collisionCount",
            ];
            counts(new, &keys, at, causes);
            above("updatedReplicas", "replicas", TOTAL, causes);
            above("readyReplicas", "replicas", TOTAL, causes);
            above("availableReplicas", "replicas", TOTAL, causes);
            above("availableReplicas", "readyReplicas", "cannot be greater than readyReplicas", causes);
            collisions(new, old, causes);
        }
        "DaemonSet" => {
            let keys = [
                "currentNumberScheduled",
                "numberMisscheduled",
                "desiredNumberScheduled",
                "numberReady",
                "observedGeneration",
                "updatedNumberScheduled",
                "numberAvailable",
                "numberUnavailable",
                "collisionCount",
            ];
            counts(new, &keys, at, causes);
            collisions(new, old, causes);
        }
        "StatefulSet" => {
            let keys = [
                "replicas",
                "readyReplicas",
                "currentReplicas",
                "updatedReplicas",
                "availableReplicas",
                "observedGeneration",
                "collisionCount",
            ];
            counts(new, &keys, at, causes);
            above("readyReplicas", "replicas", TOTAL, causes);
            above("currentReplicas", "replicas", TOTAL, causes);
            above("updatedReplicas", "replicas", TOTAL, causes);
            above("availableReplicas", "replicas", TOTAL, causes);
            above("availableReplicas", "readyReplicas", "cannot be greater than status.readyReplicas", causes);
            collisions(new, old, causes);
        }
        _ => {
            let keys = [
                "replicas",
                "fullyLabeledReplicas",
                "readyReplicas",
                "availableReplicas",
                "terminatingReplicas",
                "observedGeneration",
            ];
            counts(new, &keys, at, causes);
            above("fullyLabeledReplicas", "replicas", TOTAL, causes);
            above("readyReplicas", "replicas", TOTAL, causes);
            above("availableReplicas", "replicas", TOTAL, causes);
            above("availableReplicas", "readyReplicas", "cannot be greater than readyReplicas", causes);
        }
    }
}

fn collisions(new: &Value, old: &Value, causes: &mut Causes) {
    if let Some(before) = old.oi("collisionCount") {
        let at = STATUS.child("collisionCount");
        match new.oi("collisionCount") {
            None => causes.invalid_int(&at, 0, "cannot be decremented"),
            Some(now) if now < before => causes.invalid_int(&at, now, "cannot be decremented"),
            Some(_) => {}
        }
    }
}
