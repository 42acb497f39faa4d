//! Printer columns.

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

/// `ValidateCustomResourceColumnDefinition` of each.
pub(super) fn validate(columns: &[Value], path: &Path<'_>, causes: &mut Causes) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    for (i, column) in columns.iter().enumerate() {
        let at = path.index(i);
        if column.zero("name") {
            causes.need(&at.child("name"));
        }
        let kind = column.text("type");
        let detail = format!("must be one of {}", TYPES.join(","));
        if kind.is_empty() {
            causes.required(&at.child("type"), &detail);
        } else if !TYPES.contains(&kind) {
            causes.invalid_str(&at.child("type"), kind, &detail);
        }
        let format = column.text("format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            causes.invalid_str(&at.child("format"), format, &format!("must be one of {}", FORMATS.join(",")));
        }
        let text = column.text("jsonPath");
        if text.is_empty() {
            causes.need(&at.child("JSONPath"));
        } else if !text.starts_with('.') {
            causes.invalid_str(&at.child("JSONPath"), text, "must be a simple json path starting with .");
        }
    }
}
