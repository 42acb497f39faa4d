//! The spec of a persistent volume, which attachments have inline.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use crate::check::Check;
use crate::format::name;
use crate::pod_template::validate::persistent;
use crate::{resource, selector, volume_claim};
use hydrofoil_types::read::Read;

/// The sources in upstream's order, and the path under which each is reported.
const SOURCES: [(&str, &str); 22] = [
    ("hostPath", "hostPath"),
    ("gcePersistentDisk", "persistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("nfs", "nfs"),
    ("rbd", "rbd"),
    ("quobyte", "quobyte"),
    ("cephfs", "cephfs"),
    ("iscsi", "iscsi"),
    ("cinder", "cinder"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("scaleIO", "scaleIO"),
    ("local", "local"),
    ("storageos", "storageos"),
    ("csi", "csi"),
];

/// `ValidatePersistentVolumeSpec`; `inline` is the volume of an attachment.
pub fn spec(spec: &Value, own: &str, inline: bool, path: &Path<'_>, causes: &mut Causes) {
    if inline {
        for key in ["claimRef", "capacity", "csi"] {
            let at = path.child(key);
            match key {
                "csi" if !spec.has(key) => causes.required(&at, "has to be specified in the context of inline volumes"),
                "csi" => {}
                "claimRef" if !spec.has(key) => {}
                _ if key == "claimRef" || !spec.zero(key) => {
                    causes.forbidden(&at, "may not be specified in the context of inline volumes");
                }
                _ => {}
            }
        }
    }
    let modes = spec.list("accessModes");
    if modes.is_empty() {
        causes.need(&path.child("accessModes"));
    }
    volume_claim::access_modes(modes, &path.child("accessModes"), causes);
    if !inline {
        capacity(spec, path, causes);
    }
    if !spec.zero("persistentVolumeReclaimPolicy") {
        let (at, policy) = (path.child("persistentVolumeReclaimPolicy"), spec.text("persistentVolumeReclaimPolicy"));
        if inline {
            if policy != "Retain" {
                let detail = "may only be Retain in the context of inline volumes";
                causes.forbidden(&at, detail);
            }
        } else {
            causes.one_of(&at, policy, &["Delete", "Recycle", "Retain"]);
        }
    }
    if let Some(affinity) = spec.opt("nodeAffinity") {
        let at = path.child("nodeAffinity");
        let required = at.child("required");
        match affinity.opt("required") {
            _ if inline => causes.forbidden(&at, "may not be specified in the context of inline volumes"),
            Some(terms) => selector::node_selector(terms, &required, causes),
            None => causes.required(&required, "must specify required node constraints"),
        }
    }
    sources(spec, own, path, causes);
    classes(spec, inline, path, causes);
}

fn capacity(spec: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("capacity");
    let list = spec.field("capacity");
    if spec.zero("capacity") {
        causes.need(&at);
    }
    let count = list.as_object().map_or(0, hydrofoil_types::Map::len);
    if !list.has("storage") || count > 1 {
        let shown = if spec.has("capacity") { list.clone() } else { Value::Null };
        causes.not_supported(&at, &shown, &["storage"]);
    }
    for (name, amount) in spec.entries("capacity") {
        if resource::quantity(amount).value() < 0 {
            let shown = Value::Int(resource::quantity(amount).value() as i64);
            causes.invalid(&at.key(name), &shown, "must be a valid resource quantity");
        }
        if name == "storage" || count > 0 {
            resource::positive(amount, &at.key(name), causes);
        }
    }
}

fn sources(spec: &Value, own: &str, path: &Path<'_>, causes: &mut Causes) {
    let mut count = 0;
    for (key, shown) in SOURCES {
        let Some(value) = spec.opt(key) else { continue };
        count += 1;
        if count > 1 && key != "flexVolume" {
            let shown = if key == "cephfs" { "cephFS" } else { key };
            causes.forbidden(&path.child(shown), "may not specify more than 1 volume type");
            continue;
        }
        persistent(key, value, own, &path.child(shown), causes);
        if key == "local" && !spec.has("nodeAffinity") {
            causes.required(&path.child("nodeAffinity"), "Local volume requires node affinity");
        }
    }
    if count == 0 {
        causes.required(path, "must specify a volume type");
    }
    let host = spec.field("hostPath").text("path");
    let root =
        !host.is_empty() && host.starts_with('/') && host.split('/').all(|p| p.is_empty() || p == "." || p == "..");
    if root && spec.text("persistentVolumeReclaimPolicy") == "Recycle" {
        let detail = "may not be 'recycle' for a hostPath mount of '/'";
        causes.forbidden(&path.child("persistentVolumeReclaimPolicy"), detail);
    }
}

fn classes(spec: &Value, inline: bool, path: &Path<'_>, causes: &mut Causes) {
    if !spec.zero("storageClassName") {
        let at = path.child("storageClassName");
        if inline {
            causes.forbidden(&at, "may not be specified in the context of inline volumes");
        } else {
            causes.format(&at, spec.text("storageClassName"), name::subdomain);
        }
    }
    if let Some(mode) = spec.opt("volumeMode").map(|m| m.as_str().unwrap_or("")) {
        let at = path.child("volumeMode");
        if inline {
            if mode != "Filesystem" {
                let detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
                causes.forbidden(&at, detail);
            }
        } else {
            causes.one_of(&at, mode, &["Block", "Filesystem"]);
        }
    }
    if inline {
        return;
    }
    if let Some(class) = spec.opt("volumeAttributesClassName").map(|c| c.as_str().unwrap_or("")) {
        let at = path.child("volumeAttributesClassName");
        if class.is_empty() {
            causes.required(&at, "an empty string is disallowed");
        } else {
            causes.format(&at, class, name::subdomain);
        }
        if !spec.has("csi") {
            causes.required(&path.child("csi"), "has to be specified when using volumeAttributesClassName");
        }
    }
}
