//! Kinds of the group `flowcontrol.apiserver.k8s.io`.

mod conditions;
mod flow_schema;
mod mandatory;
mod priority_level_configuration;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "FlowSchema" => &flow_schema::STRATEGY,
        "PriorityLevelConfiguration" => &priority_level_configuration::STRATEGY,
        _ => return None,
    })
}
