//! Kinds of the group `node.k8s.io`.

mod runtime_class;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "RuntimeClass" => &runtime_class::STRATEGY,
        _ => return None,
    })
}
