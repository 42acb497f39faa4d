//! Persistent volumes.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, Path, Value};

use super::claim;
use crate::Request;
use crate::internal::{self, InternalCauses};
use crate::read::{Read, Write};
use crate::validate::check::{Check, IMMUTABLE};
use crate::validate::format::name;
use crate::validate::pod::persistent;
use crate::validate::{meta, resource, selector};

/// The source as the internal type.
const SOURCE: &str = "core.PersistentVolumeSource";

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

pub(crate) fn rules(object: &Value, causes: &mut Causes) {
    spec(object.sub("spec"), object.sub("metadata").s("name"), false, &Path::new("spec"), causes);
    mount_options(object, causes);
}

/// `ValidatePersistentVolume` of `pkg/volume/validation`: options only where a plug-in takes them.
fn mount_options(object: &Value, causes: &mut Causes) {
    const KEY: &str = "volume.beta.kubernetes.io/mount-options";
    const TAKERS: [&str; 12] = [
        "gcePersistentDisk",
        "awsElasticBlockStore",
        "glusterfs",
        "nfs",
        "rbd",
        "quobyte",
        "iscsi",
        "cinder",
        "cephfs",
        "azureFile",
        "vsphereVolume",
        "azureDisk",
    ];
    let spec = object.sub("spec");
    if TAKERS.iter().any(|t| spec.has(t)) {
        return;
    }
    let meta = Path::new("metadata");
    if object.sub("metadata").sub("annotations").has(KEY) {
        let at = meta.child("annotations");
        causes.forbidden(&at.child(KEY), "may not specify mount options for this volume type");
    }
}

/// `ValidatePersistentVolumeSpec`; `inline` is the volume of an attachment.
pub(crate) fn spec(spec: &Value, own: &str, inline: bool, path: &Path<'_>, causes: &mut Causes) {
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
    claim::access_modes(modes, &path.child("accessModes"), causes);
    if !inline {
        capacity(spec, path, causes);
    }
    if !spec.zero("persistentVolumeReclaimPolicy") {
        let (at, policy) = (path.child("persistentVolumeReclaimPolicy"), spec.s("persistentVolumeReclaimPolicy"));
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
        let at = at.child("required");
        match affinity.opt("required") {
            Some(required) => selector::node_selector(required, &at, causes),
            None => causes.required(&at, "must specify required node constraints"),
        }
        if inline {
            causes.forbidden(&path.child("nodeAffinity"), "may not be specified in the context of inline volumes");
        }
    }
    sources(spec, own, path, causes);
    classes(spec, inline, path, causes);
}

fn capacity(spec: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("capacity");
    let list = spec.sub("capacity");
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
    let host = spec.sub("hostPath").s("path");
    let root =
        !host.is_empty() && host.starts_with('/') && host.split('/').all(|p| p.is_empty() || p == "." || p == "..");
    if root && spec.s("persistentVolumeReclaimPolicy") == "Recycle" {
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
            causes.format(&at, spec.s("storageClassName"), name::subdomain);
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

/// `validatePvNodeAffinity`: labels may move from their beta names to the general ones.
fn node_affinity(new: &Value, old: &Value, causes: &mut Causes) {
    const SHAPE: &str = "*core.VolumeNodeAffinity";
    const MOVED: [(&str, &str); 4] = [
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ];
    let mut moved = old.clone();
    moved.within("required", |required| {
        required.each("nodeSelectorTerms", |term| {
            for list in ["matchExpressions", "matchFields"] {
                term.each(list, |requirement| {
                    if let Some((_, now)) = MOVED.iter().find(|(was, _)| *was == requirement.s("key")) {
                        requirement.put("key", *now);
                    }
                });
            }
        });
    });
    if !internal::same(SHAPE, new, old) && !internal::same(SHAPE, new, &moved) {
        let detail = "field is immutable, except for updating from beta label to GA";
        causes.invalid_internal(&Path::new("nodeAffinity"), SHAPE, new, detail);
    }
}

pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return;
    }
    // The strategy validates the object, and so does ValidatePersistentVolumeUpdate.
    rules(object, causes);
    meta::create(req.kind, object, causes);
    spec(object.sub("spec"), object.sub("metadata").s("name"), false, &Path::new("spec"), causes);
    let (new, before) = (object.sub("spec"), old.sub("spec"));
    let mut munged = new.clone();
    let gained = |s: &Value| s.sub("csi").has("controllerExpandSecretRef");
    if before.has("csi") && !gained(before) && gained(new) {
        munged.within("csi", |c| c.drop("controllerExpandSecretRef"));
    }
    if !internal::same(SOURCE, &munged, before) {
        let changed = internal::diff(SOURCE, before, &munged);
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{changed}");
        causes.forbidden(&Path::new("spec").child("persistentvolumesource"), &detail);
    }
    if new.s("volumeMode") != before.s("volumeMode") {
        causes.invalid(&Path::new("volumeMode"), new.sub("volumeMode"), IMMUTABLE);
    }
    if before.has("nodeAffinity") {
        node_affinity(new.sub("nodeAffinity"), before.sub("nodeAffinity"), causes);
    }
    let class = "volumeAttributesClassName";
    if before.has(class) && !new.has(class) {
        causes.forbidden(&Path::new("spec").child(class), "update from non-nil value to nil is forbidden");
    }
}
