//! Access reviews (`pkg/apis/authorization/validation/validation.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::check::Check;
use super::format::label;
use crate::Request;
use crate::internal::InternalCauses;
use crate::read::Read;

const SPEC: Path<'static> = Path::new("spec");
const OTHER: &str = "authorization.NonResourceAttributes";

pub(crate) fn review(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    match req.kind.kind.as_str() {
        "SubjectAccessReview" => {
            attributes(spec, causes);
            subject(spec, causes);
            metadata(object, false, causes);
        }
        "LocalSubjectAccessReview" => {
            attributes(spec, causes);
            subject(spec, causes);
            metadata(object, true, causes);
            let asked = spec.sub("resourceAttributes");
            let own = object.sub("metadata").s("namespace");
            if spec.has("resourceAttributes") && asked.s("namespace") != own {
                let at = SPEC.child("resourceAttributes");
                let detail = "must match metadata.namespace";
                causes.invalid_str(&at.child("namespace"), asked.s("namespace"), detail);
            }
            if let Some(other) = spec.opt("nonResourceAttributes") {
                let detail = "disallowed on this kind of request";
                causes.invalid_internal(&SPEC.child("nonResourceAttributes"), OTHER, other, detail);
            }
        }
        "SelfSubjectAccessReview" => {
            attributes(spec, causes);
            metadata(object, false, causes);
        }
        _ => {}
    }
}

fn subject(spec: &Value, causes: &mut Causes) {
    if spec.zero("user") && spec.list("groups").is_empty() {
        causes.invalid_str(&SPEC.child("user"), "", "at least one of user or group must be specified");
    }
}

fn attributes(spec: &Value, causes: &mut Causes) {
    let at = SPEC.child("resourceAttributes");
    match (spec.opt("resourceAttributes"), spec.opt("nonResourceAttributes")) {
        (Some(_), Some(other)) => {
            let detail = "cannot be specified in combination with resourceAttributes";
            causes.invalid_internal(&SPEC.child("nonResourceAttributes"), OTHER, other, detail);
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

fn selector_of(selector: &Value, key: &str, fields: bool, path: &Path<'_>, causes: &mut Causes) {
    let list = selector.list("requirements");
    let at = path.child("requirements");
    let raw = selector.s("rawSelector");
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
        match requirement.s("operator") {
            "In" | "NotIn" if values == 0 => {
                causes.required(&at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if values > 0 => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                causes.forbidden(&at.child("values"), detail);
            }
            // Operators of later versions pass.
            _ => {}
        }
        if !fields {
            causes.format(&at.child("key"), requirement.s("key"), label::key);
            let values_at = at.child("values");
            for (j, value) in requirement.list("values").iter().enumerate() {
                causes.format(&values_at.index(j), value.as_str().unwrap_or(""), label::value);
            }
        }
    }
}

/// A review has no metadata, but for the namespace of a local one and the managed fields that this server adds.
fn metadata(object: &Value, local: bool, causes: &mut Causes) {
    let meta = object.sub("metadata");
    let ours = |key: &str| key == "managedFields" || (local && key == "namespace");
    if meta.as_object().into_iter().flatten().any(|(key, value)| !value.is_zero() && !ours(key)) {
        let detail = if local { "must be empty except for namespace" } else { "must be empty" };
        causes.invalid_internal(&Path::new("metadata"), "meta.ObjectMeta", meta, detail);
    }
}
