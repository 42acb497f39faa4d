//! Kinds of the group `flowcontrol.apiserver.k8s.io`.

mod conditions;
mod flow_schema;
mod priority_level_configuration;

use hydrofoil_types::{Timestamp, Value};

use crate::kind::Strategy;
use hydrofoil_types::read::{Read, Write};

/// Keep all metadata in a write of the status, but for the managed fields and the version that it names.
fn keep_metadata(object: &mut Value, old: &Value, _: Timestamp) {
    let given = std::mem::take(object.make("metadata"));
    let mut kept = old.field("metadata").clone();
    for key in ["managedFields", "resourceVersion"] {
        kept.copy_from(&given, key);
    }
    object.put("metadata", kept);
}

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "FlowSchema" => &flow_schema::STRATEGY,
        "PriorityLevelConfiguration" => &priority_level_configuration::STRATEGY,
        _ => return None,
    })
}
