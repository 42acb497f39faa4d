//! The devices of a slice.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Duplicates, KeySet, Path, Value, Whole};

use super::{capacity, counters};
use crate::kinds::resource::{names, taint};
use hydrofoil_internal::{self as internal, InternalCauses};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::version::Version;
use hydrofoil_rules::format::{label, name};
use hydrofoil_rules::selector;
use hydrofoil_types::read::Read;

const MOST_TAINTS: usize = 16;
const MOST_CONSUMED: usize = 2;
const MOST_CONDITIONS: usize = 4;

/// Report whether a device makes fewer of them fit into a slice.
pub(super) fn is_advanced(device: &Value) -> bool {
    !device.list("taints").is_empty() || !device.list("consumesCounters").is_empty()
}

/// `validateDevice`.
pub(super) fn validate(device: &Value, old: Option<&Value>, spread: bool, path: &Path<'_>, causes: &mut Causes) {
    let total = device.entries("attributes").len() + device.entries("capacity").len();
    if total > 32 {
        let detail = "the total number of attributes and capacities must not exceed 32";
        causes.invalid_int(path, total as i64, detail);
    }
    let count = device.entries("attributes").len();
    if count > 48 {
        causes.invalid_int(path, count as i64, "the total number of attribute values must not exceed 48");
    }
    let at = path.child("attributes");
    for (key, value) in device.entries("attributes") {
        names::qualified_name(key, &at, causes);
        attribute(value, &at.key(&names::truncate_key(key, names::LONGEST)), causes);
    }
    let many = device.flag("allowMultipleAllocations");
    let at = path.child("capacity");
    for (key, value) in device.entries("capacity") {
        names::qualified_name(key, &at, causes);
        capacity::validate(value, many, &at.key(&names::truncate_key(key, names::LONGEST)), causes);
    }
    let same = |old: &Value| internal::same("[]resource.DeviceTaint", old.field("taints"), device.field("taints"));
    if !old.is_some_and(same) {
        taints(device.list("taints"), &path.child("taints"), causes);
    }
    let at = path.child("consumesCounters");
    counters::sets(device.list("consumesCounters"), "counterSet", MOST_CONSUMED, &at, causes);
    placement(device, spread, path, causes);
    bindings(device, path, causes);
}

fn taints(taints: &[Value], path: &Path<'_>, causes: &mut Causes) {
    if taints.len() > MOST_TAINTS {
        return causes.too_many(path, taints.len(), MOST_TAINTS);
    }
    for (i, taint) in taints.iter().enumerate() {
        let at = path.index(i);
        taint::validate(taint, &at, causes);
        taint::effect(taint, &at, causes);
    }
}

/// `validateDeviceAttribute`.
fn attribute(value: &Value, at: &Path<'_>, causes: &mut Causes) {
    let kinds = ["int", "bool", "string", "version"];
    let count = kinds.iter().filter(|k| value.has(k)).count();
    if let Some(text) = value.opt("string").map(|s| s.as_str().unwrap_or(""))
        && text.len() > 64
    {
        causes.too_long(&at.child("string"), 64);
    }
    if let Some(text) = value.opt("version").map(|s| s.as_str().unwrap_or("")) {
        if Version::parse(text).is_none() {
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

/// Validate the node selection of a device, which the slice may leave to its devices.
fn placement(device: &Value, spread: bool, path: &Path<'_>, causes: &mut Causes) {
    if !spread {
        if ["nodeName", "nodeSelector", "allNodes"].into_iter().any(|key| device.has(key)) {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
            causes.invalid(path, &Value::Null, detail);
        }
        return;
    }
    let mut set = Vec::new();
    if let Some(node) = device.opt("nodeName").map(|node| node.as_str().unwrap_or("")) {
        let at = path.child("nodeName");
        if node.is_empty() {
            causes.invalid_str(&at, node, "must not be empty");
        } else {
            set.push("`nodeName`");
            causes.format(&at, node, name::subdomain);
        }
    }
    if let Some(nodes) = device.opt("nodeSelector") {
        set.push("`nodeSelector`");
        selector::node_selector(nodes, &path.child("nodeSelector"), causes);
    }
    match device.get("allNodes").and_then(Value::as_bool) {
        Some(true) => set.push("`allNodes`"),
        Some(false) => {
            causes.invalid(&path.child("allNodes"), &Value::Bool(false), "must be either unset or set to true");
        }
        None => {}
    }
    let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    match set.len() {
        0 => causes.required(path, detail),
        1 => {}
        _ => causes.invalid_str(path, &format!("{{{}}}", set.join(", ")), detail),
    }
}

/// `validateDeviceBindingParameters`.
fn bindings(device: &Value, path: &Path<'_>, causes: &mut Causes) {
    const CONDITIONS: &str = "bindingConditions";
    const FAILURES: &str = "bindingFailureConditions";
    let (conditions, failures) = (device.list(CONDITIONS), device.list(FAILURES));
    for (key, list) in [(CONDITIONS, conditions), (FAILURES, failures)] {
        let at = path.child(key);
        if list.len() > MOST_CONDITIONS {
            causes.too_many(&at, list.len(), MOST_CONDITIONS);
            continue;
        }
        for (i, condition) in list.iter().enumerate() {
            causes.format(&at.index(i), condition.as_str().unwrap_or(""), label::key);
        }
    }
    let known: KeySet<_> = conditions.iter().map(Whole).collect();
    for (key, list) in [(CONDITIONS, conditions), (FAILURES, failures)] {
        let at = path.child(key);
        let duplicates = Duplicates::of(list, Whole);
        for (i, condition) in list.iter().enumerate() {
            if duplicates.is_repeat(i) {
                causes.duplicate(&at.index(i), condition);
            }
            if key == FAILURES && known.contains(&Whole(condition)) {
                let detail = "bindingFailureConditions must not overlap with bindingConditions";
                causes.invalid(&at.index(i), condition, detail);
            }
        }
    }
    // A list without items is shown as it was sent.
    if conditions.is_empty() && !failures.is_empty() {
        let detail = "bindingConditions are required to use bindingFailureConditions";
        causes.invalid(&path.child(CONDITIONS), device.field(CONDITIONS), detail);
    }
    if !conditions.is_empty() && failures.is_empty() {
        let detail = "bindingFailureConditions are required to use bindingConditions";
        causes.invalid(&path.child(FAILURES), device.field(FAILURES), detail);
    }
}
