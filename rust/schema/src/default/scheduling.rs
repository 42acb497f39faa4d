//! Priority classes.

use hydrofoil_types::Value;

use crate::read::Write;

pub(super) fn priority_class(object: &mut Value) {
    object.unset("preemptionPolicy", "PreemptLowerPriority");
}
