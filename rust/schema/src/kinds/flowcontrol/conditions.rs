//! Conditions of flow schemas and priority levels.

use hydrofoil_types::{Again, Causes, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

/// `ValidateFlowSchemaStatus` and `ValidatePriorityLevelConfigurationStatus`.
pub(super) fn validate(object: &Value, causes: &mut Causes) {
    let status = Path::new("status");
    let at = status.child("conditions");
    let list = object.field("status").list("conditions");
    let again = Again::of(list, |v| v.text("type"));
    for (i, condition) in list.iter().enumerate() {
        let at = at.index(i);
        let at = at.child("type");
        let kind = condition.text("type");
        if again.at(i) {
            causes.duplicate_str(&at, kind);
        }
        if kind.is_empty() {
            causes.need(&at);
        }
    }
}
