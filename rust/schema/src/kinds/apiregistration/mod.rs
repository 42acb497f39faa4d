//! Kinds of the group `apiregistration.k8s.io`.

mod api_service;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "APIService" => &api_service::STRATEGY,
        _ => return None,
    })
}
