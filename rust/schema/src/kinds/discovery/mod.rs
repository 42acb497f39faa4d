//! Kinds of the group `discovery.k8s.io`.

mod endpoint_slice;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "EndpointSlice" => &endpoint_slice::STRATEGY,
        _ => return None,
    })
}
