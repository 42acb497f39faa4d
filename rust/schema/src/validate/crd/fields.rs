//! Subresources, printer columns and selectable fields.

#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use hydrofoil_types::{Causes, Path, Seen, Value};

use crate::read::Read;
use crate::validate::check::Check;

pub(super) fn subresources(subresources: &Value, path: &Path<'_>, causes: &mut Causes) {
    let Some(scale) = subresources.opt("scale") else { return };
    for (key, prefix) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
        let text = scale.s(key);
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
    let text = scale.s("labelSelectorPath");
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

pub(super) fn columns(columns: &[Value], path: &Path<'_>, causes: &mut Causes) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    for (i, column) in columns.iter().enumerate() {
        let at = path.index(i);
        if column.zero("name") {
            causes.need(&at.child("name"));
        }
        let kind = column.s("type");
        let detail = format!("must be one of {}", TYPES.join(","));
        if kind.is_empty() {
            causes.required(&at.child("type"), &detail);
        } else if !TYPES.contains(&kind) {
            causes.invalid_str(&at.child("type"), kind, &detail);
        }
        let format = column.s("format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            causes.invalid_str(&at.child("format"), format, &format!("must be one of {}", FORMATS.join(",")));
        }
        let text = column.s("jsonPath");
        if text.is_empty() {
            causes.need(&at.child("JSONPath"));
        } else if !text.starts_with('.') {
            causes.invalid_str(&at.child("JSONPath"), text, "must be a simple json path starting with .");
        }
    }
}

/// `ValidateCustomResourceSelectableFields`.
pub(super) fn selectable(holder: &Value, schema: &str, path: &Path<'_>, causes: &mut Causes) {
    let list = holder.list("selectableFields");
    if list.is_empty() {
        return;
    }
    let at = path.child("selectableFields");
    let Some(root) = holder.sub(schema).opt("openAPIV3Schema") else {
        let detail = if schema == "validation" {
            "may only be set when validations.schema is included"
        } else {
            "may only be set when `version.schema.openAPIV3Schema` is not included"
        };
        return causes.invalid_str(&at, "", detail);
    };
    let mut seen = Seen::default();
    for (i, field) in list.iter().enumerate() {
        let at = at.index(i);
        let at = at.child("jsonPath");
        let text = field.s("jsonPath");
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
                if !matches!(found.s("type"), "string" | "boolean" | "integer") {
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

/// `cel.ValidFieldPath`: the schema that a path of names leads to.
pub(super) fn find<'a>(root: &'a Value, path: &str, brackets: bool) -> Result<&'a Value, String> {
    const NO_FIELD: &str = "does not refer to a valid field";
    let mut here = root;
    let mut rest = path;
    while !rest.is_empty() {
        let (name, after) = if let Some(dotted) = rest.strip_prefix('.') {
            let end = dotted.find(['.', '[']).unwrap_or(dotted.len());
            (&dotted[..end], &dotted[end..])
        } else if rest.starts_with('[') {
            if !brackets {
                return Err("array notation is not allowed".to_owned());
            }
            let Some((name, after)) = rest.strip_prefix("['").and_then(|r| r.split_once("']")) else {
                return Err("expected ['name']".to_owned());
            };
            (name, after)
        } else {
            let first: String = rest.chars().take(1).collect();
            return Err(format!("expected [ or . but got: {first}"));
        };
        here = match (here.sub("properties").get(name), here.opt("additionalProperties")) {
            (Some(next), _) => next,
            (None, Some(next)) if brackets && next.as_object().is_some() => next,
            _ => return Err(NO_FIELD.to_owned()),
        };
        rest = after;
    }
    Ok(here)
}
