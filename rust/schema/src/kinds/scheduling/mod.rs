//! Kinds of the group `scheduling.k8s.io`.

mod group;
mod pod_group;
mod priority_class;
mod workload;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "PodGroup" => &pod_group::STRATEGY,
        "PriorityClass" => &priority_class::STRATEGY,
        "Workload" => &workload::STRATEGY,
        _ => return None,
    })
}
