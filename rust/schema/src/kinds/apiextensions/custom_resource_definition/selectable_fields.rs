//! Selectable fields.

use hydrofoil_types::{Causes, KeySet, Path, Value};

use super::field_path::find;
use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

/// `ValidateCustomResourceSelectableFields`.
pub(super) fn validate(holder: &Value, schema: &str, path: &Path<'_>, causes: &mut Causes) {
    let list = holder.list("selectableFields");
    if list.is_empty() {
        return;
    }
    let at = path.child("selectableFields");
    let Some(root) = holder.field(schema).opt("openAPIV3Schema") else {
        let detail = if schema == "validation" {
            "may only be set when validations.schema is included"
        } else {
            "may only be set when `version.schema.openAPIV3Schema` is not included"
        };
        return causes.invalid_str(&at, "", detail);
    };
    let mut seen = KeySet::default();
    for (i, field) in list.iter().enumerate() {
        let at = at.index(i);
        let at = at.child("jsonPath");
        let text = field.text("jsonPath");
        if text.is_empty() {
            causes.need(&at);
            continue;
        }
        match find(root, text, false) {
            Err(problem) => {
                causes.invalid_str(&at, text, &format!("is an invalid path: {problem}"));
                continue;
            }
            Ok(found) => {
                if text.starts_with(".metadata") {
                    causes.invalid_str(&at, text, "must not point to fields in metadata");
                }
                if !matches!(found.text("type"), "string" | "boolean" | "integer") {
                    let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
                    causes.invalid_str(&at, text, detail);
                }
            }
        }
        if !seen.insert(text) {
            causes.duplicate_str(&at, text);
        }
    }
    if seen.len() > 8 {
        causes.too_many(&at, seen.len(), 8);
    }
}
