//! Kinds of the group `coordination.k8s.io`.

mod lease;
mod lease_candidate;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "Lease" => &lease::STRATEGY,
        "LeaseCandidate" => &lease_candidate::STRATEGY,
        _ => return None,
    })
}
