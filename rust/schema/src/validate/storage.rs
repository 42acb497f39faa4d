//! Storage (`pkg/apis/storage/validation/validation.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use std::collections::{BTreeMap, HashMap};

use hydrofoil_types::{Again, Causes, Path, Value, Whole};

use super::check::{Check, IMMUTABLE};
use super::core::volume;
use super::format::{label, name};
use super::pod::csi_driver_name;
use super::{resource, selector};
use crate::Request;
use crate::internal::InternalCauses;
use crate::read::{Read, Write, same_map};

const SPEC: Path<'static> = Path::new("spec");

pub(crate) fn rules(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    match req.kind.kind.as_str() {
        "StorageClass" => class(object, causes),
        "VolumeAttachment" => attachment(object, causes),
        "CSINode" => node(object.sub("spec"), causes),
        "CSIDriver" => driver(object, causes),
        "CSIStorageCapacity" => capacity(object, causes),
        "VolumeAttributesClass" => {
            provisioner(object.s("driverName"), &Path::new("driverName"), causes);
            let at = Path::new("parameters");
            if object.zero("parameters") {
                causes.required(&at, "must contain at least one key/value pair");
            }
            parameters(object, causes);
        }
        _ => {}
    }
}

fn provisioner(text: &str, at: &Path<'_>, causes: &mut Causes) {
    if text.is_empty() {
        causes.need(at);
    } else {
        let lower = text.to_lowercase();
        label::key(&lower, &mut |detail| causes.invalid_str(at, &lower, detail));
    }
}

fn parameters(object: &Value, causes: &mut Causes) {
    let at = Path::new("parameters");
    let (mut size, mut count) = (0, 0);
    for (key, value) in object.entries("parameters") {
        count += 1;
        if key.is_empty() {
            causes.invalid_str(&at, key, "field can not be empty.");
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if count > 512 {
        causes.push(&at, hydrofoil_types::CauseReason::TooLong, "Too long: may not be more than 512 bytes");
    }
    if size > 256 * 1024 {
        causes.too_long(&at, 256 * 1024);
    }
}

fn class(object: &Value, causes: &mut Causes) {
    provisioner(object.s("provisioner"), &Path::new("provisioner"), causes);
    parameters(object, causes);
    if !object.zero("reclaimPolicy") {
        causes.one_of(&Path::new("reclaimPolicy"), object.s("reclaimPolicy"), &["Delete", "Retain"]);
    }
    let at = Path::new("volumeBindingMode");
    match object.opt("volumeBindingMode") {
        None => causes.need(&at),
        Some(mode) => causes.one_of(&at, mode.as_str().unwrap_or(""), &["Immediate", "WaitForFirstConsumer"]),
    }
    topologies(object.list("allowedTopologies"), causes);
}

/// `validateAllowedTopologies`.
fn topologies(terms: &[Value], causes: &mut Causes) {
    let path = Path::new("allowedTopologies");
    // Upstream begins with as many empty terms as there are terms, so an empty one is told for each.
    let mut empty = terms.len();
    let mut seen: HashMap<Vec<(&str, Vec<&str>)>, usize> = HashMap::new();
    for (i, term) in terms.iter().enumerate() {
        let at = path.index(i);
        let at = at.child("matchLabelExpressions");
        let expressions = term.list("matchLabelExpressions");
        let mut set: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let again = Again::of(expressions, |v| v.s("key"));
        for (j, expression) in expressions.iter().enumerate() {
            let at = at.index(j);
            let values = expression.list("values");
            let values_at = at.child("values");
            if values.is_empty() {
                causes.need(&values_at);
            }
            let twice = Again::of(values, Whole);
            for (k, value) in values.iter().enumerate() {
                if twice.at(k) {
                    causes.duplicate(&values_at.index(k), value);
                }
            }
            let key = expression.s("key");
            causes.format(&at.child("key"), key, label::key);
            if again.at(j) {
                causes.duplicate_str(&at.child("key"), key);
            }
            let mut list: Vec<&str> = values.iter().map(|v| v.as_str().unwrap_or("")).collect();
            list.sort_unstable();
            list.dedup();
            set.insert(key, list);
        }
        let times = if set.is_empty() { &mut empty } else { seen.entry(set.into_iter().collect()).or_default() };
        for _ in 0..*times {
            if causes.is_full() {
                break;
            }
            causes.duplicate_str(&at, "");
        }
        *times += 1;
    }
}

fn attachment(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    let at = SPEC.child("attacher");
    if spec.zero("attacher") {
        causes.need(&at);
    } else {
        csi_driver_name(spec.s("attacher"), &at, causes);
    }
    let source = spec.sub("source");
    let at = SPEC.child("source");
    match (source.opt("inlineVolumeSpec"), source.opt("persistentVolumeName")) {
        (None, None) => {
            let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
            causes.required(&at, detail);
        }
        (Some(_), Some(_)) => {
            let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
            causes.forbidden(&at, detail);
        }
        (None, Some(name)) => {
            let at = at.child("persistentVolumeName");
            let text = name.as_str().unwrap_or("");
            if text.is_empty() {
                causes.required(&at, "must specify non empty persistentVolumeName");
            }
            causes.format(&at, text, name::subdomain);
        }
        (Some(inline), None) => volume::spec(inline, "", true, &at.child("inlineVolumeSpec"), causes),
    }
    causes.format(&SPEC.child("nodeName"), spec.s("nodeName"), name::subdomain);
    let status = Path::new("status");
    for key in ["attachError", "detachError"] {
        let error = object.sub("status").sub(key);
        if error.s("message").len() > 262_144 {
            causes.too_long(&status.child(key).child("message"), 262_144);
        }
        if let Some(code) = error.oi("errorCode") {
            causes.range(&status.child(key).child("errorCode"), code, 0, i64::from(i32::MAX));
        }
    }
}

fn node(spec: &Value, causes: &mut Causes) {
    let path = SPEC.child("drivers");
    let drivers = spec.list("drivers");
    let again = Again::of(drivers, |v| v.s("name"));
    for (i, driver) in drivers.iter().enumerate() {
        let at = path.index(i);
        csi_driver_name(driver.s("name"), &at.child("name"), causes);
        if again.at(i) {
            causes.duplicate_str(&at.child("name"), driver.s("name"));
        }
        let id_at = at.child("nodeID");
        let id = driver.s("nodeID");
        if id.is_empty() {
            causes.need(&id_at);
        } else if id.len() > 256 {
            causes.invalid_str(&id_at, id, "must be 256 characters or less");
        }
        if let Some(count) = driver.sub("allocatable").oi("count") {
            let at = at.child("allocatable");
            causes.not_negative(&at.child("count"), count);
        }
        let keys = driver.list("topologyKeys");
        let again = Again::of(keys, Whole);
        for (j, key) in keys.iter().enumerate() {
            let text = key.as_str().unwrap_or("");
            // Upstream reports keys under the driver itself.
            if text.is_empty() {
                causes.need(&at);
            }
            if again.at(j) {
                causes.duplicate_str(&at, text);
            }
            causes.format(&at, text, label::key);
        }
    }
}

fn driver(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    for (key, shown) in [
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ] {
        if !spec.has(key) {
            causes.need(&SPEC.child(shown));
        }
    }
    let at = SPEC.child("fsGroupPolicy");
    match spec.opt("fsGroupPolicy") {
        None => causes.need(&at),
        Some(policy) => {
            causes.one_of(&at, policy.as_str().unwrap_or(""), &["File", "None", "ReadWriteOnceWithFSType"]);
        }
    }
    let at = SPEC.child("tokenRequests");
    let requests = spec.list("tokenRequests");
    let again = Again::of(requests, |v| v.s("audience"));
    for (i, request) in requests.iter().enumerate() {
        let at = at.index(i);
        if again.at(i) {
            causes.duplicate_str(&at.child("audience"), request.s("audience"));
        }
        if let Some(seconds) = request.oi("expirationSeconds") {
            let at = at.child("expirationSeconds");
            if seconds < 600 {
                causes.invalid_int(&at, seconds, "may not specify a duration less than 10 minutes");
            }
            if seconds > 1 << 32 {
                causes.invalid_int(&at, seconds, "may not specify a duration larger than 2^32 seconds");
            }
        }
    }
    for mode in spec.list("volumeLifecycleModes") {
        let mode = mode.as_str().unwrap_or("");
        causes.one_of(&SPEC.child("volumeLifecycleModes"), mode, &["Persistent", "Ephemeral"]);
    }
    if let Some(seconds) = spec.oi("nodeAllocatableUpdatePeriodSeconds").filter(|s| *s < 10) {
        let detail = "must be greater than or equal to 10 seconds";
        causes.invalid_int(&SPEC.child("nodeAllocatableUpdatePeriodSeconds"), seconds, detail);
    }
    if let Some(set) = spec.opt("serviceAccountTokenInSecrets").filter(|_| requests.is_empty()) {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        causes.invalid(&SPEC.child("serviceAccountTokenInSecrets"), set, detail);
    }
}

fn capacity(object: &Value, causes: &mut Causes) {
    selector::label_selector(object.sub("nodeTopology"), &Path::new("nodeTopology"), causes);
    let class = object.s("storageClassName");
    causes.format(&Path::new("storageClassName"), class, name::subdomain);
    if let Some(amount) = object.opt("capacity") {
        resource::not_negative(amount, &Path::new("capacity"), causes);
    }
}

pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    let fixed = |key: &'static str, shape: &str, causes: &mut Causes| {
        causes.immutable_internal(&Path::new(key), shape, object.sub(key), old.sub(key));
    };
    match req.kind.kind.as_str() {
        "StorageClass" => {
            class(object, causes);
            for (key, shape) in
                [("parameters", "{}s"), ("provisioner", "s"), ("reclaimPolicy", "*s"), ("volumeBindingMode", "*s")]
            {
                fixed(key, shape, causes);
            }
        }
        "CSIStorageCapacity" => {
            capacity(object, causes);
            fixed("nodeTopology", "*meta.LabelSelector", causes);
            fixed("storageClassName", "s", causes);
        }
        "VolumeAttachment" => {
            attachment(object, causes);
            causes.immutable_internal(&SPEC, "storage.VolumeAttachmentSpec", object.sub("spec"), old.sub("spec"));
        }
        "VolumeAttributesClass" => {
            if object.s("driverName") != old.s("driverName") {
                causes.forbidden(&Path::new("driverName"), "updates to driverName are forbidden.");
            }
            if !same_map(object, old, "parameters") {
                causes.forbidden(&Path::new("parameters"), "updates to parameters are forbidden.");
            }
            rules(req, object, causes);
        }
        "CSINode" => node_update(object, old, causes),
        "CSIDriver" => {
            driver(object, causes);
            let (new, before) = (object.sub("spec"), old.sub("spec"));
            for (key, shown) in
                [("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")]
            {
                if new.sub(key) != before.sub(key) {
                    causes.invalid(&SPEC.child(shown), new.sub(key), IMMUTABLE);
                }
            }
        }
        _ => rules(req, object, causes),
    }
}

/// A driver of a node changes only its limits.
fn node_update(object: &Value, old: &Value, causes: &mut Causes) {
    node(object.sub("spec"), causes);
    let mut named: HashMap<&str, Vec<&Value>> = HashMap::new();
    for driver in object.sub("spec").list("drivers") {
        named.entry(driver.s("name")).or_default().push(driver);
    }
    for before in old.sub("spec").list("drivers") {
        for driver in named.get(before.s("name")).into_iter().flatten() {
            let (mut now, mut then) = ((*driver).clone(), before.clone());
            now.drop("allocatable");
            then.drop("allocatable");
            causes.immutable_internal(&SPEC.child("drivers"), "storage.CSINodeDriver", &now, &then);
        }
    }
}
