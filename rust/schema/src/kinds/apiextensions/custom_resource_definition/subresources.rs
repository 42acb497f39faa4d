//! Subresources.

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

/// `ValidateCustomResourceDefinitionSubresources`.
pub(super) fn validate(subresources: &Value, path: &Path<'_>, causes: &mut Causes) {
    let Some(scale) = subresources.opt("scale") else { return };
    for (key, prefix) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
        let text = scale.text(key);
        let at = path.child("scale");
        let at = at.child(key);
        if text.is_empty() {
            causes.need(&at);
        } else if !text.starts_with('.') {
            causes.invalid_str(&at, text, "must be a simple json path starting with .");
        } else if !text.starts_with(prefix) {
            let under = prefix.trim_end_matches('.');
            causes.invalid_str(&at, text, &format!("should be a json path under {under}"));
        }
    }
    let text = scale.text("labelSelectorPath");
    let at = path.child("scale");
    let at = at.child("labelSelectorPath");
    if text.is_empty() {
        return;
    }
    if !text.starts_with('.') {
        causes.invalid_str(&at, text, "must be a simple json path starting with .");
    } else if !text.starts_with(".spec.") && !text.starts_with(".status.") {
        causes.invalid_str(&at, text, "should be a json path under either .spec or .status");
    }
}
