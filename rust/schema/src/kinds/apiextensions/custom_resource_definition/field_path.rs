//! Paths of names in a schema.

#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use hydrofoil_types::Value;

use hydrofoil_types::read::Read;

/// `cel.ValidFieldPath`: return the schema that a path of names leads to.
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
        here = match (here.field("properties").get(name), here.opt("additionalProperties")) {
            (Some(next), _) => next,
            (None, Some(next)) if brackets && next.as_object().is_some() => next,
            _ => return Err(NO_FIELD.to_owned()),
        };
        rest = after;
    }
    Ok(here)
}
