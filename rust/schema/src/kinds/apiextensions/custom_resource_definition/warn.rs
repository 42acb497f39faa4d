//! Warnings of unknown formats.

use hydrofoil_text::quoted;
use hydrofoil_types::{KeySet, Value};

use hydrofoil_custom::StringFormat;
use hydrofoil_types::read::Read;

/// Warn of the formats of a new definition.
pub(super) fn formats(object: &Value, out: &mut Vec<String>) {
    out.extend(unknown(object).into_iter().map(warning));
}

/// Warn of the formats that an update adds.
pub(super) fn new_formats(object: &Value, old: &Value, out: &mut Vec<String>) {
    let before = unknown(old);
    out.extend(unknown(object).into_iter().filter(|format| !before.contains(format)).map(warning));
}

fn warning(format: &str) -> String {
    format!("unrecognized format {}", quoted(format))
}

/// Return the formats of each version's schema, and of the one that versions share, that are unknown.
fn unknown(object: &Value) -> Vec<&str> {
    let (mut seen, mut out) = (KeySet::default(), Vec::new());
    schema(object.field("spec").field("validation").field("openAPIV3Schema"), &mut seen, &mut out);
    for version in object.field("spec").list("versions") {
        schema(version.field("schema").field("openAPIV3Schema"), &mut seen, &mut out);
    }
    out
}

/// `SchemaHas`, as far as structural schemas have parts.
fn schema<'a>(node: &'a Value, seen: &mut KeySet<&'a str>, out: &mut Vec<&'a str>) {
    let format = node.text("format");
    let known = match node.text("type") {
        "" | "string" => StringFormat::parse(format).is_some(),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    };
    if !format.is_empty() && !known && seen.insert(format) {
        out.push(format);
    }
    if let Some(items) = node.opt("items") {
        schema(items, seen, out);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for inner in node.list(key) {
            schema(inner, seen, out);
        }
    }
    for (_, property) in node.entries("properties") {
        schema(property, seen, out);
    }
    for key in ["not", "additionalProperties"] {
        if let Some(inner) = node.opt(key) {
            schema(inner, seen, out);
        }
    }
}
