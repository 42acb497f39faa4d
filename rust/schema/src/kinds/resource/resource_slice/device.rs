//! The devices of a slice.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Again, Causes, Path, Seen, Value, Whole};

use super::{capacity, counters};
use crate::internal::InternalCauses;
use crate::kinds::resource::names;
use crate::read::Read;
use crate::rules::check::Check;
use crate::rules::format::{label, name};
use crate::rules::selector;

/// `validateDevice`.
pub(super) fn validate(device: &Value, spread: bool, path: &Path<'_>, causes: &mut Causes) {
    let total = device.entries("attributes").len() + device.entries("capacity").len();
    if total > 32 {
        let detail = "the total number of attributes and capacities must not exceed 32";
        causes.invalid_int(path, total as i64, detail);
    }
    let at = path.child("attributes");
    for (key, value) in device.entries("attributes") {
        names::qualified(key, &at, causes);
        attribute(value, &at.key(key), causes);
    }
    let many = device.flag("allowMultipleAllocations");
    let at = path.child("capacity");
    for (key, value) in device.entries("capacity") {
        names::qualified(key, &at, causes);
        capacity::validate(value, many, &at.key(key), causes);
    }
    let at = path.child("taints");
    for (i, taint) in device.list("taints").iter().enumerate() {
        let at = at.index(i);
        causes.format(&at.child("key"), taint.text("key"), label::key);
        causes.format(&at.child("value"), taint.text("value"), label::value);
        causes.one_of_required(&at.child("effect"), taint.text("effect"), &["NoExecute", "NoSchedule", "None"]);
    }
    let at = path.child("consumesCounters");
    let consumed = device.list("consumesCounters");
    let again = Again::of(consumed, |v| v.text("counterSet"));
    for (i, set) in consumed.iter().enumerate() {
        let at = at.index(i);
        counters::validate(set, "counterSet", &at, causes);
        if again.at(i) {
            causes.duplicate_str(&at, set.text("counterSet"));
        }
    }
    placement(device, spread, path, causes);
    bindings(device, path, causes);
}

/// `validateDeviceAttribute`.
fn attribute(value: &Value, at: &Path<'_>, causes: &mut Causes) {
    let kinds = ["int", "bool", "string", "version", "bools", "ints", "strings", "versions"];
    let count = kinds.iter().filter(|k| value.has(k)).count();
    if let Some(text) = value.opt("string").map(|s| s.as_str().unwrap_or(""))
        && text.len() > 64
    {
        causes.too_long(&at.child("string"), 64);
    }
    if let Some(text) = value.opt("version").map(|s| s.as_str().unwrap_or("")) {
        if !is_semver(text) {
            let detail = "must be a string compatible with semver.org spec 2.0.0";
            causes.invalid_str(&at.child("version"), text, detail);
        }
        if text.len() > 64 {
            causes.too_long(&at.child("version"), 64);
        }
    }
    if count != 1 {
        let detail = "exactly one value must be specified";
        if count == 0 {
            causes.invalid_str(at, "", detail);
        } else {
            causes.invalid_internal(at, "resource.DeviceAttribute", value, detail);
        }
    }
}

fn is_semver(text: &str) -> bool {
    let (rest, build) = text.split_once('+').map_or((text, None), |(r, b)| (r, Some(b)));
    let (core, pre) = rest.split_once('-').map_or((rest, None), |(r, p)| (r, Some(p)));
    let number = |p: &str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()) && (p == "0" || !p.starts_with('0'));
    let word = |p: &str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let parts: Vec<&str> = core.split('.').collect();
    parts.len() == 3
        && parts.into_iter().all(number)
        && pre.is_none_or(|p| p.split('.').all(|w| word(w) && (number(w) || !w.bytes().all(|b| b.is_ascii_digit()))))
        && build.is_none_or(|b| b.split('.').all(word))
}

/// Validate the node selection of a device, which the slice may leave to its devices.
fn placement(device: &Value, spread: bool, path: &Path<'_>, causes: &mut Causes) {
    let keys = ["nodeName", "nodeSelector", "allNodes"];
    let set: Vec<&str> = keys.into_iter().filter(|k| device.has(k)).collect();
    if !spread {
        if !set.is_empty() {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
            causes.invalid(path, &Value::Null, detail);
        }
        return;
    }
    let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    match set.len() {
        0 => causes.required(path, detail),
        1 => {}
        _ => causes.invalid_str(path, &format!("{{{}}}", set.join(", ")), detail),
    }
    if let Some(node) = device.opt("nodeName") {
        causes.format(&path.child("nodeName"), node.as_str().unwrap_or(""), name::subdomain);
    }
    if let Some(nodes) = device.opt("nodeSelector") {
        selector::node_selector(nodes, &path.child("nodeSelector"), causes);
    }
    if device.get("allNodes").and_then(Value::as_bool) == Some(false) {
        causes.invalid(&path.child("allNodes"), &Value::Bool(false), "must be either unset or set to true");
    }
}

/// Validate the conditions of a binding.
fn bindings(device: &Value, path: &Path<'_>, causes: &mut Causes) {
    let (conditions, failures) = (device.list("bindingConditions"), device.list("bindingFailureConditions"));
    if conditions.is_empty() && !failures.is_empty() {
        let detail = "bindingConditions are required to use bindingFailureConditions";
        causes.invalid(&path.child("bindingConditions"), &Value::Null, detail);
    }
    if !conditions.is_empty() && failures.is_empty() {
        let detail = "bindingFailureConditions are required to use bindingConditions";
        causes.invalid(&path.child("bindingFailureConditions"), &Value::Null, detail);
    }
    let mut seen = Seen::default();
    for (key, list) in [("bindingConditions", conditions), ("bindingFailureConditions", failures)] {
        let at = path.child(key);
        if list.len() > 4 {
            causes.too_many(&at, list.len(), 4);
        }
        for (i, condition) in list.iter().enumerate() {
            if !seen.insert(Whole(condition)) {
                causes.duplicate(&at.index(i), condition);
            }
            causes.format(&at.index(i), condition.as_str().unwrap_or(""), label::key);
        }
    }
}
