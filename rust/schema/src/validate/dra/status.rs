//! The status of a claim.

use hydrofoil_types::{Again, Causes, Map, Path, Seen, Value, Whole};

use super::claim::{names, request_name};
use crate::internal::InternalCauses;
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::{ip, name};
use crate::validate::{selector, small};

const STATUS: Path<'static> = Path::new("status");

/// `ValidateResourceClaimStatusUpdate`.
pub(super) fn update(object: &Value, old: &Value, causes: &mut Causes) {
    let (new, before) = (object.sub("status"), old.sub("status"));
    let names = names(object.sub("spec").sub("devices"));
    reserved(new, &STATUS.child("reservedFor"), causes);
    let allocation = new.opt("allocation");
    devices(new, allocation, &STATUS.child("devices"), causes);
    reservations(object, before, causes);
    let at = STATUS.child("allocation");
    match (allocation, before.opt("allocation")) {
        (Some(now), Some(was)) => causes.immutable_internal(&at, "*resource.AllocationResult", now, was),
        (Some(now), None) => allocated(now, &names, &at, causes),
        _ => {}
    }
}

/// What is reserved is allocated, and not about to go.
fn reservations(object: &Value, before: &Value, causes: &mut Causes) {
    let status = object.sub("status");
    let list = status.list("reservedFor");
    let at = STATUS.child("reservedFor");
    if list.is_empty() {
        return;
    }
    if !status.has("allocation") {
        return causes.forbidden(&at, "may not be specified when `allocated` is not set");
    }
    let known: Seen<_> = before.list("reservedFor").iter().map(Whole).collect();
    let added = list.iter().any(|user| !known.contains(&Whole(user)));
    if added && object.sub("metadata").has("deletionTimestamp") {
        let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
        causes.forbidden(&at, detail);
    }
}

fn reserved(new: &Value, path: &Path<'_>, causes: &mut Causes) {
    let list = new.list("reservedFor");
    if list.len() > 256 {
        causes.too_many(path, list.len(), 256);
    }
    let again = Again::of(list, |v| v.s("uid"));
    for (i, user) in list.iter().enumerate() {
        let at = path.index(i);
        for key in ["resource", "name", "uid"] {
            if user.zero(key) {
                causes.need(&at.child(key));
            }
        }
        if again.at(i) {
            causes.duplicate_str(&at, user.s("uid"));
        }
    }
}

fn key(device: &Value) -> (&str, &str, &str, &str) {
    (device.s("driver"), device.s("pool"), device.s("device"), device.s("shareID"))
}

fn devices(new: &Value, allocation: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    let list = new.list("devices");
    let results = allocation.map_or(&[][..], |a| a.sub("devices").list("results"));
    let allocated: Seen<_> = results.iter().map(key).collect();
    let again = Again::of(list, key);
    for (i, device) in list.iter().enumerate() {
        let at = path.index(i);
        super::driver(device.s("driver"), &at.child("driver"), causes);
        super::pool(device.s("pool"), &at.child("pool"), causes);
        causes.format(&at.child("device"), device.s("device"), name::label);
        if !allocated.contains(&key(device)) {
            let shown = Map::from_unique(vec![
                ("Driver".into(), Value::from(device.s("driver"))),
                ("Pool".into(), Value::from(device.s("pool"))),
                ("Device".into(), Value::from(device.s("device"))),
                ("ShareID".into(), Value::from(device.s("shareID"))),
            ]);
            causes.invalid(&at, &shown.into(), "must be an allocated device in the claim");
        }
        if again.at(i) {
            causes.duplicate(&at, device);
        }
        let conditions = device.list("conditions");
        if conditions.len() > 8 {
            causes.too_many(&at.child("conditions"), conditions.len(), 8);
        }
        small::conditions(conditions, &at.child("conditions"), causes);
        if let data @ Some(_) = device.opt("data") {
            super::raw(data, &at.child("data"), causes);
        }
        if let Some(network) = device.opt("networkData") {
            network_data(network, &at.child("networkData"), causes);
        }
    }
}

fn network_data(network: &Value, path: &Path<'_>, causes: &mut Causes) {
    if network.s("interfaceName").len() > 256 {
        causes.too_long(&path.child("interfaceName"), 256);
    }
    if network.s("hardwareAddress").len() > 128 {
        causes.too_long(&path.child("hardwareAddress"), 128);
    }
    let ips = network.list("ips");
    let at = path.child("ips");
    if ips.len() > 16 {
        causes.too_many(&at, ips.len(), 16);
    }
    let again = Again::of(ips, Whole);
    for (i, address) in ips.iter().enumerate() {
        causes.format(&at.index(i), address.as_str().unwrap_or(""), ip::interface);
        if again.at(i) {
            causes.duplicate(&at.index(i), address);
        }
    }
}

fn allocated(allocation: &Value, names: &Seen<String>, path: &Path<'_>, causes: &mut Causes) {
    let devices_at = path.child("devices");
    let at = devices_at.child("results");
    let results = allocation.sub("devices").list("results");
    if results.len() > 32 {
        causes.too_many(&at, results.len(), 32);
    }
    for (i, result) in results.iter().enumerate() {
        let at = at.index(i);
        request_name(result.s("request"), names, &at.child("request"), causes);
        super::driver(result.s("driver"), &at.child("driver"), causes);
        super::pool(result.s("pool"), &at.child("pool"), causes);
        causes.format(&at.child("device"), result.s("device"), name::label);
        if let Some(id) = result.opt("shareID").map(|s| s.as_str().unwrap_or(""))
            && id.len() != 36
        {
            let detail = format!("error validating uid: invalid UUID length: {}", id.len());
            causes.invalid_str(&at.child("shareID"), id, &detail);
        }
    }
    let at = devices_at.child("config");
    for (i, config) in allocation.sub("devices").list("config").iter().enumerate() {
        let at = at.index(i);
        let source = config.s("source");
        causes.one_of_required(&at.child("source"), source, &["FromClaim", "FromClass"]);
        let requests = at.child("requests");
        for (j, value) in config.list("requests").iter().enumerate() {
            request_name(value.as_str().unwrap_or(""), names, &requests.index(j), causes);
        }
        super::opaque(config, &at, causes);
    }
    if let Some(nodes) = allocation.opt("nodeSelector") {
        let at = path.child("nodeSelector");
        selector::node_selector(nodes, &at, causes);
    }
}
