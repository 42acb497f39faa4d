//! Conditions of flow schemas and priority levels.

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

/// `ValidateFlowSchemaStatus` and `ValidatePriorityLevelConfigurationStatus`.
pub(super) fn validate(object: &Value, causes: &mut Causes) {
    let status = Path::new("status");
    let at = status.child("conditions");
    let list = object.field("status").list("conditions");
    let duplicates = Duplicates::of(list, |v| v.text("type"));
    for (i, condition) in list.iter().enumerate() {
        let at = at.index(i);
        let at = at.child("type");
        let kind = condition.text("type");
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at, kind);
        }
        if kind.is_empty() {
            causes.need(&at);
        }
    }
}
