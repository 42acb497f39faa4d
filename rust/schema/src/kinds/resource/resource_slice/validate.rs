//! Validation (`pkg/apis/resource/validation/validation.go`).

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use super::{counters, device};
use crate::kinds::resource::names;
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::selector;
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");
const WHERE: &str = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

/// How many devices a slice has at most, also if one of them has taints or consumes counters.
const MOST_DEVICES: usize = 128;
const MOST_ADVANCED: usize = 64;
const MOST_COUNTER_SETS: usize = 8;

/// `validateResourceSliceSpec`.
pub(super) fn slice(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let spec = object.field("spec");
    names::driver(spec.text("driver"), &SPEC.child("driver"), causes);
    let at = SPEC.child("pool");
    let pool = spec.field("pool");
    names::pool(pool.text("name"), &at.child("name"), causes);
    if pool.int("resourceSliceCount") <= 0 {
        let count = pool.int("resourceSliceCount");
        causes.invalid_int(&at.child("resourceSliceCount"), count, "must be greater than zero");
    }
    if pool.int("generation") < 0 {
        let detail = "must be greater than or equal to zero";
        causes.invalid_int(&at.child("generation"), pool.int("generation"), detail);
    }
    if let Some(old) = old {
        immutable_fields(spec, old.field("spec"), causes);
    }
    placement(spec, causes);
    let devices = spec.list("devices");
    let counters = spec.list("sharedCounters");
    // Lists without items count.
    if spec.has("devices") && spec.has("sharedCounters") {
        causes.invalid_str(&SPEC, "", "only one of `sharedCounters` or `devices` is allowed");
    }
    let at = SPEC.child("devices");
    let advanced = devices.iter().any(device::is_advanced);
    let most = if advanced { MOST_ADVANCED } else { MOST_DEVICES };
    if devices.len() > most {
        causes.too_many(&at, devices.len(), most);
    }
    let spread = spec.flag("perDeviceNodeSelection");
    let before = old.map_or(&[][..], |old| old.field("spec").list("devices"));
    let duplicates = Duplicates::of(devices, |v| v.text("name"));
    for (i, one) in devices.iter().enumerate().take(if devices.len() > most { 0 } else { most }) {
        let before = before.iter().find(|old| old.text("name") == one.text("name"));
        let at = at.index(i);
        causes.format(&at.child("name"), one.text("name"), name::label);
        device::validate(one, before, spread, &at, causes);
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at, one.text("name"));
        }
    }
    let at = SPEC.child("sharedCounters");
    counters::sets(counters, "name", MOST_COUNTER_SETS, &at, causes);
}

/// Validate the node selection of the devices.
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
        let (at, shown) = (at.child("nodeSelectorTerms"), nodes.field("nodeSelectorTerms"));
        let detail = "must have exactly one node selector term";
        causes.invalid_internal(&at, "[]core.NodeSelectorTerm", shown, detail);
    }
}

/// Validate that the pool, the driver and the node of a slice stay.
fn immutable_fields(new: &Value, before: &Value, causes: &mut Causes) {
    let pool = SPEC.child("pool");
    let text = ("s", "*s");
    causes.immutable_internal(
        &pool.child("name"),
        text.0,
        new.field("pool").field("name"),
        before.field("pool").field("name"),
    );
    causes.immutable_internal(&SPEC.child("driver"), text.0, new.field("driver"), before.field("driver"));
    causes.immutable_internal(&SPEC.child("nodeName"), text.1, new.field("nodeName"), before.field("nodeName"));
}
