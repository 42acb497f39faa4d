//! Resource slices.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "amounts are far below 128 bits; a step of nothing is looked at before"
)]
#![allow(clippy::indexing_slicing, reason = "the place before was there")]

use hydrofoil_types::{Again, Causes, Path, Seen, Value, Whole};

use crate::internal::InternalCauses;
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::{label, name};
use crate::validate::resource::quantity;
use crate::validate::{resource, selector};

const SPEC: Path<'static> = Path::new("spec");
const WHERE: &str = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

/// `validateResourceSliceSpec`.
pub(crate) fn slice(version: &str, object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let spec = object.sub("spec");
    super::driver(spec.s("driver"), &SPEC.child("driver"), causes);
    let at = SPEC.child("pool");
    let pool = spec.sub("pool");
    super::pool(pool.s("name"), &at.child("name"), causes);
    if pool.i("resourceSliceCount") <= 0 {
        let count = pool.i("resourceSliceCount");
        causes.invalid_int(&at.child("resourceSliceCount"), count, "must be greater than zero");
    }
    if pool.i("generation") < 0 {
        let detail = "must be greater than or equal to zero";
        causes.invalid_int(&at.child("generation"), pool.i("generation"), detail);
    }
    if let Some(old) = old {
        fixed(spec, old.sub("spec"), causes);
    }
    placement(spec, causes);
    let devices = spec.list("devices");
    let counters = spec.list("sharedCounters");
    if !devices.is_empty() && !counters.is_empty() {
        causes.invalid_str(&SPEC, "", "only one of `sharedCounters` or `devices` is allowed");
    }
    let at = SPEC.child("devices");
    if devices.len() > 128 {
        causes.too_many(&at, devices.len(), 128);
    }
    let spread = spec.b("perDeviceNodeSelection");
    let again = Again::of(devices, |v| v.s("name"));
    for (i, one) in devices.iter().enumerate() {
        let at = at.index(i);
        if version == "v1beta1" {
            causes.format(&at.child("name"), one.s("name"), name::label);
            device(one.sub("basic"), spread, &at.child("basic"), causes);
        } else {
            causes.format(&at.child("name"), one.s("name"), name::label);
            device(one, spread, &at, causes);
        }
        if again.at(i) {
            causes.duplicate_str(&at, one.s("name"));
        }
    }
    let at = SPEC.child("sharedCounters");
    let again = Again::of(counters, |v| v.s("name"));
    for (i, set) in counters.iter().enumerate() {
        let at = at.index(i);
        counter_set(set, "name", &at, causes);
        if again.at(i) {
            causes.duplicate_str(&at, set.s("name"));
        }
    }
}

fn placement(spec: &Value, causes: &mut Causes) {
    let mut set: Vec<&str> = Vec::new();
    if let Some(node) = spec.opt("nodeName") {
        let node = node.as_str().unwrap_or("");
        if node.is_empty() {
            causes.invalid_str(&SPEC.child("nodeName"), "", "must be either unset or set to a non-empty string");
        } else {
            set.push("`nodeName`");
            causes.format(&SPEC.child("nodeName"), node, name::subdomain);
        }
    }
    if let Some(nodes) = spec.opt("nodeSelector") {
        set.push("`nodeSelector`");
        node_selector(nodes, &SPEC.child("nodeSelector"), causes);
    }
    for key in ["allNodes", "perDeviceNodeSelection"] {
        match spec.get(key).and_then(Value::as_bool) {
            Some(true) => set.push(if key == "allNodes" { "`allNodes`" } else { "`perDeviceNodeSelection`" }),
            Some(false) => {
                let detail = "must be either unset or set to true";
                causes.invalid(&SPEC.child(key), &Value::Bool(false), detail);
            }
            None => {}
        }
    }
    match set.len() {
        0 => causes.required(&SPEC, WHERE),
        1 => {}
        _ => {
            let shown = format!("{{{}}}", set.join(", "));
            causes.invalid_str(&SPEC, &shown, &format!("{WHERE}, but multiple fields are set"));
        }
    }
}

fn node_selector(nodes: &Value, at: &Path<'_>, causes: &mut Causes) {
    selector::node_selector(nodes, at, causes);
    if nodes.list("nodeSelectorTerms").len() != 1 {
        let (at, shown) = (at.child("nodeSelectorTerms"), nodes.sub("nodeSelectorTerms"));
        let detail = "must have exactly one node selector term";
        causes.invalid_internal(&at, "[]core.NodeSelectorTerm", shown, detail);
    }
}

fn device(device: &Value, spread: bool, path: &Path<'_>, causes: &mut Causes) {
    let total = device.entries("attributes").len() + device.entries("capacity").len();
    if total > 32 {
        let detail = "the total number of attributes and capacities must not exceed 32";
        causes.invalid_int(path, total as i64, detail);
    }
    let at = path.child("attributes");
    for (key, value) in device.entries("attributes") {
        super::qualified(key, &at, causes);
        attribute(value, &at.key(key), causes);
    }
    let many = device.b("allowMultipleAllocations");
    let at = path.child("capacity");
    for (key, value) in device.entries("capacity") {
        super::qualified(key, &at, causes);
        capacity(value, many, &at.key(key), causes);
    }
    let at = path.child("taints");
    for (i, taint) in device.list("taints").iter().enumerate() {
        let at = at.index(i);
        causes.format(&at.child("key"), taint.s("key"), label::key);
        causes.format(&at.child("value"), taint.s("value"), label::value);
        causes.one_of_required(&at.child("effect"), taint.s("effect"), &["NoExecute", "NoSchedule", "None"]);
    }
    let at = path.child("consumesCounters");
    let consumed = device.list("consumesCounters");
    let again = Again::of(consumed, |v| v.s("counterSet"));
    for (i, set) in consumed.iter().enumerate() {
        let at = at.index(i);
        counter_set(set, "counterSet", &at, causes);
        if again.at(i) {
            causes.duplicate_str(&at, set.s("counterSet"));
        }
    }
    own_placement(device, spread, path, causes);
    bindings(device, path, causes);
}

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

fn capacity(value: &Value, many: bool, path: &Path<'_>, causes: &mut Causes) {
    let Some(policy) = value.opt("requestPolicy") else { return };
    let at = path.child("requestPolicy");
    if !many {
        return causes.forbidden(&at, "allowMultipleAllocations must be true");
    }
    let most = quantity(value.sub("value")).nano();
    let shown = |v: &Value| v.as_str().unwrap_or("0").to_owned();
    let default = policy.opt("default");
    let (values, range) = (policy.list("validValues"), policy.opt("validRange"));
    if !values.is_empty() && range.is_some() {
        causes.forbidden(
            &at,
            "exactly one policy can be specified, cannot specify `validValues` and `validRange` at the same time",
        );
    }
    if default.is_none() && !values.is_empty() {
        causes.required(&at.child("default"), "required when validValues is defined");
    }
    let values_at = at.child("validValues");
    for (i, one) in values.iter().enumerate() {
        if quantity(one).nano() > most {
            let detail = format!("option is larger than capacity value: {}", shown(value.sub("value")));
            causes.invalid(&values_at.index(i), one, &detail);
        }
        if i > 0 && quantity(&values[i - 1]).nano() > quantity(one).nano() {
            causes.invalid(&values_at.index(i), one, "values must be sorted in ascending order");
        }
    }
    let Some(range) = range else { return };
    if default.is_none() {
        causes.required(&at.child("default"), "required when validRange is defined");
    }
    let range_at = at.child("validRange");
    let Some(min) = range.opt("min") else {
        return causes.required(&range_at.child("min"), "required when validRange is defined");
    };
    if quantity(min).nano() > most {
        let detail = format!("min is larger than capacity value: {}", shown(value.sub("value")));
        causes.invalid(&range_at.child("min"), min, &detail);
    }
    if let Some(d) = default.filter(|d| quantity(d).nano() < quantity(min).nano()) {
        causes.invalid(&range_at.child("min"), d, &format!("default is less than min: {}", shown(min)));
    }
    if let Some(max) = range.opt("max")
        && quantity(max).nano() > most
    {
        let detail = format!("max is larger than capacity value: {}", shown(value.sub("value")));
        causes.invalid(&range_at.child("max"), max, &detail);
    }
    if let Some(step) = range.opt("step") {
        let (s, m) = (quantity(step).nano(), quantity(min).nano());
        let at = range_at.child("step");
        if m.saturating_add(s) > most {
            let one = quantity(step).with_nano(m.saturating_add(s));
            let detail = format!("one step {one} is larger than capacity value: {}", shown(value.sub("value")));
            causes.invalid(&at, step, &detail);
        }
        if let Some(d) = default
            && s != 0
            && (quantity(d).nano() - m) % s != 0
        {
            let detail = format!("value is not a multiple of a given step ({}) from ({})", shown(step), shown(min));
            causes.invalid(&at, d, &detail);
        }
    }
}

fn counter_set(set: &Value, key: &str, path: &Path<'_>, causes: &mut Causes) {
    if set.zero(key) {
        causes.need(&path.child(key));
    } else {
        causes.format(&path.child(key), set.s(key), name::label);
    }
    let at = path.child("counters");
    if set.zero("counters") {
        causes.need(&at);
    }
    for (own, counter) in set.entries("counters") {
        causes.format(&at, own, name::label);
        resource::not_negative(counter.sub("value"), &at.key(own).child("value"), causes);
    }
}

fn own_placement(device: &Value, spread: bool, path: &Path<'_>, causes: &mut Causes) {
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

/// The pool, the driver and the node of a slice stay.
fn fixed(new: &Value, before: &Value, causes: &mut Causes) {
    let pool = SPEC.child("pool");
    let text = ("s", "*s");
    causes.immutable_internal(&pool.child("name"), text.0, new.sub("pool").sub("name"), before.sub("pool").sub("name"));
    causes.immutable_internal(&SPEC.child("driver"), text.0, new.sub("driver"), before.sub("driver"));
    causes.immutable_internal(&SPEC.child("nodeName"), text.1, new.sub("nodeName"), before.sub("nodeName"));
}
