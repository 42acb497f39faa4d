//! Kinds of the group `apps`.

mod controller_revision;
mod daemon_set;
mod deployment;
mod replica_set;
mod stateful_set;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "ControllerRevision" => &controller_revision::STRATEGY,
        "DaemonSet" => &daemon_set::STRATEGY,
        "Deployment" => &deployment::STRATEGY,
        "ReplicaSet" => &replica_set::STRATEGY,
        "StatefulSet" => &stateful_set::STRATEGY,
        _ => return None,
    })
}
