//! Top-level fields for all versions and fields of each version: `v1beta1` only, as `v1` is brought into the
//! one form or the other.

use hydrofoil_types::{Causes, Path, Value};

use super::internal;
use hydrofoil_types::read::Read;

/// The name at the top level, in a version, and in messages.
const SHARED: [(&str, &str, &str); 4] = [
    ("validation", "schema", "schemas"),
    ("subresources", "subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields", "selectableFields"),
];

/// Add the fields that are given in both places, or in each version alike.
pub(super) fn check(spec: &Value, versions: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let top = Path::new("spec");
    // An empty list counts as absent.
    let set = |holder: &Value, key: &str| holder.opt(key).is_some_and(|v| v.as_array().is_none_or(|l| !l.is_empty()));
    for (key, own, word) in SHARED {
        if set(spec, key) && versions.iter().any(|v| set(v, own)) {
            let detail = format!("top-level and per-version {word} are mutually exclusive");
            causes.forbidden(&top.child(key), &detail);
        }
    }
    let Some(first) = versions.first() else { return };
    for (key, own, word) in SHARED {
        if versions.iter().all(|v| set(v, own) && internal::same(own, v, first)) {
            let detail = format!(
                "per-version {word} may not all be set to identical values (top-level {key} should be used instead)"
            );
            causes.invalid(path, &internal::versions(spec), &detail);
        }
    }
}
