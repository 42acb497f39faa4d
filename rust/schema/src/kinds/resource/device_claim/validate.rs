//! Validation of requests, constraints and configurations.

use hydrofoil_types::{Causes, Duplicates, KeySet, Path, Value, Whole};

use super::requests;
use crate::kinds::resource::{configuration, names, selectors};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{label, name};
use hydrofoil_types::read::Read;

/// The most requests, constraints and configurations of a claim.
pub(crate) const MOST: usize = 32;

/// `validateDeviceClaim`.
pub(crate) fn devices(devices: &Value, path: &Path<'_>, causes: &mut Causes) {
    let known = requests::names(devices);
    let at = path.child("requests");
    let list = devices.list("requests");
    let duplicates = Duplicates::of(list, |v| v.text("name"));
    for (i, one) in some(list, &at, causes).iter().enumerate() {
        let at = at.index(i);
        request(one, &at, causes);
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at, one.text("name"));
        }
    }
    let at = path.child("constraints");
    let constraints = devices.list("constraints");
    for (i, one) in some(constraints, &at, causes).iter().enumerate() {
        constraint(one, &known, &at.index(i), causes);
    }
    let at = path.child("config");
    let configs = devices.list("config");
    if configs.len() > 32 {
        causes.too_many(&at, configs.len(), 32);
    }
    for (i, config) in configs.iter().enumerate() {
        let at = at.index(i);
        request_names(config, &known, &at, causes);
        configuration::validate(config, &at, causes);
    }
}

/// `validateRequestNames`.
fn request_names(holder: &Value, known: &KeySet<String>, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("requests");
    let list = holder.list("requests");
    if list.len() > 32 {
        causes.too_many(&at, list.len(), 32);
    }
    let duplicates = Duplicates::of(list, Whole);
    for (i, value) in list.iter().enumerate() {
        requests::validate(value.as_str().unwrap_or(""), known, &at.index(i), causes);
        if duplicates.is_repeat(i) {
            causes.duplicate(&at.index(i), value);
        }
    }
}

/// `validateDeviceConstraint`.
fn constraint(constraint: &Value, known: &KeySet<String>, path: &Path<'_>, causes: &mut Causes) {
    request_names(constraint, known, path, causes);
    let (same, distinct) = (constraint.opt("matchAttribute"), constraint.opt("distinctAttribute"));
    match (same, distinct) {
        (None, None) => causes.required(
            path,
            "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set",
        ),
        (Some(value), _) => {
            names::fully_qualified(value.as_str().unwrap_or(""), &path.child("matchAttribute"), causes);
        }
        (None, Some(value)) => {
            names::fully_qualified(value.as_str().unwrap_or(""), &path.child("distinctAttribute"), causes);
        }
    }
}

/// `validateDeviceRequest`.
fn request(request: &Value, path: &Path<'_>, causes: &mut Causes) {
    causes.format(&path.child("name"), request.text("name"), name::label);
    let choices = request.list("firstAvailable");
    let exact = request.has("exactly");
    match (exact, choices.is_empty()) {
        (true, false) => {
            let detail = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set";
            causes.invalid(path, &Value::Null, detail);
        }
        (false, true) => causes.required(path, "exactly one of `exactly` or `firstAvailable` is required"),
        _ => {}
    }
    if exact && !choices.is_empty() {
        return;
    }
    if !choices.is_empty() {
        let at = path.child("firstAvailable");
        if choices.len() > 8 {
            causes.too_many(&at, choices.len(), 8);
        }
        let duplicates = Duplicates::of(choices, |v| v.text("name"));
        for (i, choice) in choices.iter().enumerate() {
            let at = at.index(i);
            causes.format(&at.child("name"), choice.text("name"), name::label);
            exact_request(choice, &at, causes);
            if duplicates.is_repeat(i) {
                causes.duplicate_str(&at, choice.text("name"));
            }
        }
    }
    if exact {
        exact_request(request.field("exactly"), &path.child("exactly"), causes);
    }
}

/// `validateExactDeviceRequest` and `validateDeviceSubRequest`.
fn exact_request(request: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("deviceClassName");
    if request.zero("deviceClassName") {
        causes.need(&at);
    } else {
        causes.format(&at, request.text("deviceClassName"), name::subdomain);
    }
    selectors::validate(request.list("selectors"), &path.child("selectors"), causes);
    let (at, count) = (path.child("count"), request.int("count"));
    match request.text("allocationMode") {
        "All" => {
            if count != 0 {
                causes.invalid_int(&at, count, "must not be specified when allocationMode is 'All'");
            }
        }
        "ExactCount" => {
            if count <= 0 {
                causes.invalid_int(&at, count, "must be greater than zero");
            }
        }
        other => causes.unsupported(&path.child("allocationMode"), other, &["All", "ExactCount"]),
    }
    let at = path.child("tolerations");
    let tolerations = request.list("tolerations");
    if tolerations.len() > 16 {
        causes.too_many(&at, tolerations.len(), 16);
    }
    for (i, toleration) in tolerations.iter().enumerate() {
        toleration_of(toleration, &at.index(i), causes);
    }
}

/// `validateDeviceToleration`.
fn toleration_of(toleration: &Value, path: &Path<'_>, causes: &mut Causes) {
    if !toleration.zero("key") {
        causes.format(&path.child("key"), toleration.text("key"), label::key);
    }
    let value = toleration.text("value");
    match toleration.text("operator") {
        "Exists" => {
            if !value.is_empty() {
                causes.invalid_str(&path.child("value"), value, "must be empty for operator `Exists`");
            }
        }
        "Equal" => causes.format(&path.child("value"), value, label::value),
        "" => causes.need(&path.child("operator")),
        other => causes.unsupported(&path.child("operator"), other, &["Equal", "Exists"]),
    }
    let effect = toleration.text("effect");
    if !effect.is_empty() {
        causes.one_of(&path.child("effect"), effect, &["NoExecute", "NoSchedule", "None"]);
    }
}

/// Return the items of a list to validate: none of one that is too long.
pub(crate) fn some<'a>(list: &'a [Value], path: &Path<'_>, causes: &mut Causes) -> &'a [Value] {
    if list.len() > MOST {
        causes.too_many(path, list.len(), MOST);
        return &[];
    }
    list
}
