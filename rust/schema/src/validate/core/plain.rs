//! Small kinds: config maps, namespaces, service accounts, pod templates.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::read::{Read, same_map};
use crate::validate::check::Check;
use crate::validate::format::{label, name};
use crate::validate::pod;

const MAX_DATA: usize = 1024 * 1024;

pub(crate) fn config_map(object: &Value, causes: &mut Causes) {
    let (data, binary) = (Path::new("data"), Path::new("binaryData"));
    let mut size = 0;
    for (key, value) in object.entries("data") {
        causes.format(&data.key(key), key, name::config_key);
        if object.sub("binaryData").has(key) {
            causes.invalid_str(&data.key(key), key, "duplicate of key present in binaryData");
        }
        size += value.as_str().map_or(0, str::len);
    }
    for (key, value) in object.entries("binaryData") {
        causes.format(&binary.key(key), key, name::config_key);
        size += decoded_len(value.as_str().unwrap_or(""));
    }
    if size > MAX_DATA {
        // A path of one empty name is written so.
        causes.too_long(&Path::new("[]"), MAX_DATA);
    }
}

/// How many bytes a base64 text holds.
pub(crate) fn decoded_len(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

/// An object that was made immutable stays so, and its data with it.
pub(crate) fn immutable(new: &Value, old: &Value, keys: &[&'static str], causes: &mut Causes) {
    const SET: &str = "field is immutable when `immutable` is set";
    if !old.b("immutable") {
        return;
    }
    if !new.b("immutable") {
        causes.forbidden(&Path::new("immutable"), SET);
    }
    for key in keys {
        if !same_map(new, old, key) {
            causes.forbidden(&Path::new(key), SET);
        }
    }
}

fn finalizer(value: &Value, path: &Path<'_>, causes: &mut Causes) {
    let text = value.as_str().unwrap_or("");
    causes.format(path, text, label::key);
    if !text.contains('/') && !matches!(text, "kubernetes" | "orphan" | "foregroundDeletion") {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        causes.invalid_str(path, text, detail);
    }
}

pub(crate) fn namespace(object: &Value, causes: &mut Causes) {
    let spec = Path::new("spec");
    for value in object.sub("spec").list("finalizers") {
        finalizer(value, &spec.child("finalizers"), causes);
    }
}

pub(crate) fn namespace_update(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    match req.subresource {
        "status" => {
            let path = Path::new("status");
            let phase = object.sub("status").s("phase");
            let deleted = object.sub("metadata").has("deletionTimestamp");
            if !deleted && phase != "Active" {
                let detail = "may only be 'Active' if `deletionTimestamp` is empty";
                causes.invalid_str(&path.child("Phase"), phase, detail);
            }
            if deleted && phase != "Terminating" {
                let detail = "may only be 'Terminating' if `deletionTimestamp` is not empty";
                causes.invalid_str(&path.child("Phase"), phase, detail);
            }
        }
        "finalize" => {
            let spec = Path::new("spec");
            let at = spec.child("finalizers");
            for (i, value) in object.sub("spec").list("finalizers").iter().enumerate() {
                finalizer(value, &at.index(i), causes);
            }
        }
        _ => {}
    }
}

pub(crate) fn pod_template(object: &Value, causes: &mut Causes) {
    pod::template(object.sub("template"), &Path::new("template"), causes);
}
