//! The status of a claim.

use std::collections::HashSet;

use hydrofoil_types::{Causes, Duplicates, KeySet, Map, Path, Value, Whole};

use crate::kinds::resource::device_claim::{self, requests};
use crate::kinds::resource::{configuration, names};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{ip, name};
use hydrofoil_rules::{Gate, Release};
use hydrofoil_rules::{conditions, selector};
use hydrofoil_types::read::{Read, Write};

const STATUS: Path<'static> = Path::new("status");

/// `dropDeallocatedStatusDevices`: the status of a device is removed with its allocation.
pub(super) fn prepare(release: Release, object: &mut Value, old: &Value) {
    fn id(device: &Value) -> [String; 4] {
        ["driver", "pool", "device", "shareID"].map(|key| device.text(key).to_owned())
    }
    if !release.enabled(Gate::DRAResourceClaimDeviceStatus) && old.field("status").list("devices").is_empty() {
        return;
    }
    let results = |claim: &Value| -> Vec<[String; 4]> {
        claim.field("status").field("allocation").field("devices").list("results").iter().map(id).collect()
    };
    let kept: HashSet<_> = results(object).into_iter().collect();
    let gone: HashSet<_> = results(old).into_iter().filter(|d| !kept.contains(d)).collect();
    object.within("status", |status| {
        let left: Vec<Value> = status.list("devices").iter().filter(|d| !gone.contains(&id(d))).cloned().collect();
        if left.is_empty() {
            status.drop("devices");
        } else {
            status.put("devices", left);
        }
    });
}

/// Drop the fields of the status whose features are off, unless the old claim uses them (`dropDisabledStatusFields`).
pub(super) fn drop_disabled(release: Release, object: &mut Value, old: &Value) {
    const BINDING: [&str; 2] = ["bindingConditions", "bindingFailureConditions"];
    let was = old.field("status");
    let results = was.field("allocation").field("devices").list("results");
    let spec = old.field("spec").field("devices");
    let binds = || results.iter().any(|r| BINDING.iter().any(|key| r.has(key)));
    let consumes = || {
        device_claim::gates::consumes_capacity(spec)
            || results.iter().any(|r| r.has("shareID") || r.has("consumedCapacity"))
            || was.list("devices").iter().any(|d| d.has("shareID"))
    };
    let no_status = !release.enabled(Gate::DRAResourceClaimDeviceStatus) && was.list("devices").is_empty();
    let no_binding = !release.enabled(Gate::DRADeviceBindingConditions) && !binds();
    let no_capacity = !release.enabled(Gate::DRAConsumableCapacity) && !consumes();
    if !no_status && !no_binding && !no_capacity {
        return;
    }
    object.within("status", |status| {
        if no_status {
            status.drop("devices");
        }
        status.within("allocation", |a| {
            a.within("devices", |d| {
                d.each("results", |result| {
                    if no_binding {
                        for key in BINDING {
                            result.drop(key);
                        }
                    }
                    if no_capacity {
                        result.drop("shareID");
                        result.drop("consumedCapacity");
                    }
                });
            });
        });
        if no_capacity {
            status.each("devices", |d| d.drop("shareID"));
        }
    });
}

/// `ValidateResourceClaimStatusUpdate`.
pub(super) fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    let (new, before) = (object.field("status"), old.field("status"));
    let known = requests::names(object.field("spec").field("devices"));
    reserved_for(new, &STATUS.child("reservedFor"), causes);
    let allocation = new.opt("allocation");
    devices(new, allocation, &STATUS.child("devices"), causes);
    reservations(object, before, causes);
    let at = STATUS.child("allocation");
    match (allocation, before.opt("allocation")) {
        (Some(now), Some(was)) => causes.immutable_internal(&at, "*resource.AllocationResult", now, was),
        (Some(now), None) => new_allocation(now, &known, &at, causes),
        _ => {}
    }
}

/// Validate that a reserved claim is allocated, and not about to be deleted.
fn reservations(object: &Value, before: &Value, causes: &mut Causes) {
    let status = object.field("status");
    let list = status.list("reservedFor");
    let at = STATUS.child("reservedFor");
    if list.is_empty() {
        return;
    }
    if !status.has("allocation") {
        return causes.forbidden(&at, "may not be specified when `allocated` is not set");
    }
    let known: KeySet<_> = before.list("reservedFor").iter().map(Whole).collect();
    let added = list.iter().any(|user| !known.contains(&Whole(user)));
    if added && object.field("metadata").has("deletionTimestamp") {
        let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
        causes.forbidden(&at, detail);
    }
}

fn reserved_for(new: &Value, path: &Path<'_>, causes: &mut Causes) {
    let list = new.list("reservedFor");
    if list.len() > 256 {
        causes.too_many(path, list.len(), 256);
    }
    let duplicates = Duplicates::of(list, |v| v.text("uid"));
    for (i, user) in list.iter().enumerate() {
        let at = path.index(i);
        for key in ["resource", "name", "uid"] {
            if user.zero(key) {
                causes.need(&at.child(key));
            }
        }
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at, user.text("uid"));
        }
    }
}

fn key(device: &Value) -> (&str, &str, &str, &str) {
    (device.text("driver"), device.text("pool"), device.text("device"), device.text("shareID"))
}

fn devices(new: &Value, allocation: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    let list = new.list("devices");
    let results = allocation.map_or(&[][..], |a| a.field("devices").list("results"));
    let allocated: KeySet<_> = results.iter().map(key).collect();
    let duplicates = Duplicates::of(list, key);
    for (i, device) in list.iter().enumerate() {
        let at = path.index(i);
        names::driver(device.text("driver"), &at.child("driver"), causes);
        names::pool(device.text("pool"), &at.child("pool"), causes);
        causes.format(&at.child("device"), device.text("device"), name::label);
        if !allocated.contains(&key(device)) {
            let shown = Map::from_unique(vec![
                ("Driver".into(), Value::from(device.text("driver"))),
                ("Pool".into(), Value::from(device.text("pool"))),
                ("Device".into(), Value::from(device.text("device"))),
                ("ShareID".into(), Value::from(device.text("shareID"))),
            ]);
            causes.invalid(&at, &shown.into(), "must be an allocated device in the claim");
        }
        if duplicates.is_repeat(i) {
            causes.duplicate(&at, device);
        }
        let conditions = device.list("conditions");
        if conditions.len() > 8 {
            causes.too_many(&at.child("conditions"), conditions.len(), 8);
        }
        conditions::conditions(conditions, &at.child("conditions"), causes);
        if let data @ Some(_) = device.opt("data") {
            configuration::raw(data, &at.child("data"), causes);
        }
        if let Some(network) = device.opt("networkData") {
            network_data(network, &at.child("networkData"), causes);
        }
    }
}

fn network_data(network: &Value, path: &Path<'_>, causes: &mut Causes) {
    if network.text("interfaceName").len() > 256 {
        causes.too_long(&path.child("interfaceName"), 256);
    }
    if network.text("hardwareAddress").len() > 128 {
        causes.too_long(&path.child("hardwareAddress"), 128);
    }
    let ips = network.list("ips");
    let at = path.child("ips");
    if ips.len() > 16 {
        causes.too_many(&at, ips.len(), 16);
    }
    let duplicates = Duplicates::of(ips, Whole);
    for (i, address) in ips.iter().enumerate() {
        causes.format(&at.index(i), address.as_str().unwrap_or(""), ip::interface);
        if duplicates.is_repeat(i) {
            causes.duplicate(&at.index(i), address);
        }
    }
}

fn new_allocation(allocation: &Value, known: &KeySet<String>, path: &Path<'_>, causes: &mut Causes) {
    let devices_at = path.child("devices");
    let at = devices_at.child("results");
    let results = allocation.field("devices").list("results");
    if results.len() > 32 {
        causes.too_many(&at, results.len(), 32);
    }
    for (i, result) in results.iter().enumerate() {
        let at = at.index(i);
        requests::validate(result.text("request"), known, &at.child("request"), causes);
        names::driver(result.text("driver"), &at.child("driver"), causes);
        names::pool(result.text("pool"), &at.child("pool"), causes);
        causes.format(&at.child("device"), result.text("device"), name::label);
        if let Some(id) = result.opt("shareID").map(|s| s.as_str().unwrap_or(""))
            && id.len() != 36
        {
            let detail = format!("error validating uid: invalid UUID length: {}", id.len());
            causes.invalid_str(&at.child("shareID"), id, &detail);
        }
    }
    let at = devices_at.child("config");
    for (i, config) in allocation.field("devices").list("config").iter().enumerate() {
        let at = at.index(i);
        let source = config.text("source");
        causes.one_of_required(&at.child("source"), source, &["FromClaim", "FromClass"]);
        let requests_at = at.child("requests");
        for (j, value) in config.list("requests").iter().enumerate() {
            requests::validate(value.as_str().unwrap_or(""), known, &requests_at.index(j), causes);
        }
        configuration::validate(config, &at, causes);
    }
    if let Some(nodes) = allocation.opt("nodeSelector") {
        let at = path.child("nodeSelector");
        selector::node_selector(nodes, &at, causes);
    }
}
