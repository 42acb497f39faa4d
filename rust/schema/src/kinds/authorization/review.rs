//! Rules shared by access reviews (`pkg/apis/authorization/validation/validation.go`).

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::label;
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");
/// The internal type of the attributes of paths that are not resources.
pub(super) const NON_RESOURCE: &str = "authorization.NonResourceAttributes";

/// Validate the attributes of a review.
pub(super) fn attributes(spec: &Value, causes: &mut Causes) {
    let at = SPEC.child("resourceAttributes");
    match (spec.opt("resourceAttributes"), spec.opt("nonResourceAttributes")) {
        (Some(_), Some(other)) => {
            let detail = "cannot be specified in combination with resourceAttributes";
            causes.invalid_internal(&SPEC.child("nonResourceAttributes"), NON_RESOURCE, other, detail);
        }
        (None, None) => {
            let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            causes.invalid(&at, &Value::Null, detail);
        }
        _ => {}
    }
    let Some(asked) = spec.opt("resourceAttributes") else { return };
    for (key, fields) in [("fieldSelector", true), ("labelSelector", false)] {
        if let Some(selector) = asked.opt(key) {
            selector_of(selector, key, fields, &at.child(key), causes);
        }
    }
}

/// `validateFieldSelectorAttributes` and `validateLabelSelectorAttributes`.
fn selector_of(selector: &Value, key: &str, fields: bool, path: &Path<'_>, causes: &mut Causes) {
    let list = selector.list("requirements");
    let at = path.child("requirements");
    let raw = selector.text("rawSelector");
    if !raw.is_empty() && !list.is_empty() {
        causes.invalid_str(&path.child("rawSelector"), raw, "may not specified at the same time as requirements");
    }
    if raw.is_empty() && list.is_empty() {
        let detail =
            format!("when spec.resourceAttributes.{key} is specified, requirements or rawSelector is required");
        causes.required(&at, &detail);
    }
    for (i, requirement) in list.iter().enumerate() {
        let at = at.index(i);
        if fields && requirement.zero("key") {
            causes.required(&at.child("key"), "must be specified");
        }
        let values = requirement.list("values").len();
        match requirement.text("operator") {
            "In" | "NotIn" if values == 0 => {
                causes.required(&at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if values > 0 => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                causes.forbidden(&at.child("values"), detail);
            }
            // Operators of later versions are accepted.
            _ => {}
        }
        if !fields {
            causes.format(&at.child("key"), requirement.text("key"), label::key);
            let values_at = at.child("values");
            for (j, value) in requirement.list("values").iter().enumerate() {
                causes.format(&values_at.index(j), value.as_str().unwrap_or(""), label::value);
            }
        }
    }
}

/// Validate the user and groups of a review.
pub(super) fn subject(spec: &Value, causes: &mut Causes) {
    if spec.zero("user") && spec.list("groups").is_empty() {
        causes.invalid_str(&SPEC.child("user"), "", "at least one of user or group must be specified");
    }
}

/// Validate that a review has no metadata, but for the namespace of a local one and the managed fields that this
/// server adds.
pub(super) fn metadata(object: &Value, local: bool, causes: &mut Causes) {
    let meta = object.field("metadata");
    let ours = |key: &str| key == "managedFields" || (local && key == "namespace");
    if meta.as_object().into_iter().flatten().any(|(key, value)| !value.is_zero() && !ours(key)) {
        let detail = if local { "must be empty except for namespace" } else { "must be empty" };
        causes.invalid_internal(&Path::new("metadata"), "meta.ObjectMeta", meta, detail);
    }
}
