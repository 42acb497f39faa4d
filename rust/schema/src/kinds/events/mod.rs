//! Kinds of the group `events.k8s.io`.

mod event;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "Event" => &event::STRATEGY,
        _ => return None,
    })
}
