//! Warnings of unknown formats.

use hydrofoil_types::{Seen, Value, quoted};

use crate::custom::StringFormat;
use crate::read::Read;

/// Warn of each version's schema, and of the one that versions share.
pub(super) fn formats(object: &Value, out: &mut Vec<String>) {
    let mut seen = Seen::default();
    schema(object.field("spec").field("validation").field("openAPIV3Schema"), &mut seen, out);
    for version in object.field("spec").list("versions") {
        schema(version.field("schema").field("openAPIV3Schema"), &mut seen, out);
    }
}

fn schema<'a>(node: &'a Value, seen: &mut Seen<&'a str>, out: &mut Vec<String>) {
    let format = node.text("format");
    let known = match node.text("type") {
        "" | "string" => StringFormat::parse(format).is_some(),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    };
    if !format.is_empty() && !known && seen.insert(format) {
        out.push(format!("unrecognized format {}", quoted(format)));
    }
    for (_, property) in node.entries("properties") {
        schema(property, seen, out);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = node.opt(key) {
            schema(inner, seen, out);
        }
    }
}
