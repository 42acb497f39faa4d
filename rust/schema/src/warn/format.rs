//! Formats in schemas of custom resources which the server does not know.

use hydrofoil_types::Value;

use crate::read::Read;
use crate::validate::check::go_quoted;

const KNOWN: [&str; 27] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "date-time",
    "k8s-short-name",
    "k8s-long-name",
];

/// Of each version's schema.
pub(crate) fn definition(object: &Value, out: &mut Vec<String>) {
    for version in object.sub("spec").list("versions") {
        schema(version.sub("schema").sub("openAPIV3Schema"), out);
    }
}

fn schema(node: &Value, out: &mut Vec<String>) {
    let format = node.s("format");
    // The names are compared without their dashes.
    let known = KNOWN.contains(&format) || KNOWN.contains(&format.replace('-', "").as_str());
    if node.s("type") == "string" && !format.is_empty() && !known {
        let told = format!("unrecognized format {}", go_quoted(format));
        if !out.contains(&told) {
            out.push(told);
        }
    }
    for (_, property) in node.entries("properties") {
        schema(property, out);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = node.opt(key) {
            schema(inner, out);
        }
    }
}
