//! Formats in schemas of custom resources which the server does not know.

use hydrofoil_types::{Seen, Value};

use crate::custom::StringFormat;
use crate::read::Read;
use crate::validate::check::go_quoted;

/// Of each version's schema, and of the one that versions share.
pub(crate) fn definition(object: &Value, out: &mut Vec<String>) {
    let mut seen = Seen::default();
    schema(object.sub("spec").sub("validation").sub("openAPIV3Schema"), &mut seen, out);
    for version in object.sub("spec").list("versions") {
        schema(version.sub("schema").sub("openAPIV3Schema"), &mut seen, out);
    }
}

fn schema<'a>(node: &'a Value, seen: &mut Seen<&'a str>, out: &mut Vec<String>) {
    let format = node.s("format");
    let known = match node.s("type") {
        "" | "string" => StringFormat::parse(format).is_some(),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    };
    if !format.is_empty() && !known && seen.insert(format) {
        out.push(format!("unrecognized format {}", go_quoted(format)));
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
