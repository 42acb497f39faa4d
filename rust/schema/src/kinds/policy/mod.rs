//! Kinds of the group `policy`.

mod pod_disruption_budget;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "PodDisruptionBudget" => &pod_disruption_budget::STRATEGY,
        _ => return None,
    })
}
