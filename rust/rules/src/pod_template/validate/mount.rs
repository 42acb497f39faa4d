//! Mounts and block devices of a container.

use hydrofoil_types::{Causes, Duplicates, KeySet, Lookup, Path, Value};

use super::{PodContext, path};
use crate::check::Check;
use hydrofoil_types::read::Read;

/// `ValidateVolumeMounts`.
pub fn mounts(container: &Value, spec: &PodContext<'_>, at: &Path<'_>, causes: &mut Causes) {
    let mounts = container.list("volumeMounts");
    let devices = container.list("volumeDevices");
    let names = Lookup::of(devices, |d| d.text("name"));
    let paths = Lookup::of(devices, |d| d.text("devicePath"));
    let duplicates = Duplicates::of(mounts, |v| v.text("mountPath"));
    for (i, mount) in mounts.iter().enumerate() {
        let idx = at.index(i);
        let (name, target) = (mount.text("name"), mount.text("mountPath"));
        if name.is_empty() {
            causes.need(&idx.child("name"));
        }
        if !spec.volumes.has(&name) {
            causes.not_found(&idx.child("name"), &Value::from(name));
        }
        if target.is_empty() {
            causes.need(&idx.child("mountPath"));
        }
        if duplicates.is_repeat(i) {
            causes.invalid_str(&idx.child("mountPath"), target, "must be unique");
        }
        if names.has(&name) {
            causes.invalid_str(&idx.child("name"), name, "must not already exist in volumeDevices");
        }
        if paths.has(&target) {
            causes.invalid_str(&idx.child("mountPath"), target, "must not already exist as a path in volumeDevices");
        }
        // Upstream reports these without the index.
        if !mount.zero("subPath") {
            path::descending(mount.text("subPath"), &at.child("subPath"), causes);
        }
        if !mount.zero("subPathExpr") {
            let text = mount.text("subPathExpr");
            if !mount.zero("subPath") {
                causes.invalid_str(&idx.child("subPathExpr"), text, "subPathExpr and subPath are mutually exclusive");
            }
            path::descending(text, &at.child("subPathExpr"), causes);
        }
        propagation(mount, container, &at.child("mountPropagation"), causes);
        read_only(mount, &at.child("recursiveReadOnly"), causes);
    }
}

fn propagation(mount: &Value, container: &Value, at: &Path<'_>, causes: &mut Causes) {
    let Some(mode) = mount.opt("mountPropagation") else { return };
    let mode = mode.as_str().unwrap_or("");
    causes.one_of(at, mode, &["Bidirectional", "HostToContainer", "None"]);
    if mode == "Bidirectional" && !container.field("securityContext").flag("privileged") {
        causes.forbidden(at, "Bidirectional mount propagation is available only to privileged containers");
    }
}

fn read_only(mount: &Value, at: &Path<'_>, causes: &mut Causes) {
    let Some(mode) = mount.opt("recursiveReadOnly") else { return };
    match mode.as_str().unwrap_or("") {
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.flag("readOnly") {
                causes.forbidden(at, "may only be specified when readOnly is true");
            }
            if mount.has("mountPropagation") && mount.text("mountPropagation") != "None" {
                causes.forbidden(at, "may only be specified when mountPropagation is None or not specified");
            }
        }
        other => causes.unsupported(at, other, &["Disabled", "Enabled", "IfPossible"]),
    }
}

/// `ValidateVolumeDevices`.
pub fn devices(container: &Value, spec: &PodContext<'_>, at: &Path<'_>, causes: &mut Causes) {
    let devices = container.list("volumeDevices");
    let mounts = container.list("volumeMounts");
    let mut paths = KeySet::default();
    let names = Lookup::of(mounts, |m| m.text("name"));
    let targets = Lookup::of(mounts, |m| m.text("mountPath"));
    let duplicates = Duplicates::of(devices, |v| v.text("name"));
    for (i, device) in devices.iter().enumerate() {
        let idx = at.index(i);
        let (name, target) = (device.text("name"), device.text("devicePath"));
        if name.is_empty() {
            causes.need(&idx.child("name"));
        }
        if !name.is_empty() && duplicates.is_repeat(i) {
            causes.invalid_str(&idx.child("name"), name, "must be unique");
        }
        match spec.volumes.first(&name) {
            Some(v) if !v.has("persistentVolumeClaim") && !v.has("ephemeral") => {
                let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                causes.invalid_str(&idx.child("name"), name, detail);
            }
            Some(_) => {}
            None => causes.not_found(&idx.child("name"), &Value::from(name)),
        }
        if target.is_empty() {
            causes.need(&idx.child("devicePath"));
        }
        if paths.contains(&target) {
            causes.invalid_str(&idx.child("devicePath"), target, "must be unique");
        }
        if path::has_backsteps(target) {
            causes.invalid_str(&idx.child("devicePath"), target, "can not contain backsteps ('..')");
        } else {
            paths.insert(target);
        }
        if names.has(&name) {
            causes.invalid_str(&idx.child("name"), name, "must not already exist in volumeMounts");
        }
        if targets.has(&target) {
            causes.invalid_str(&idx.child("devicePath"), target, "must not already exist as a path in volumeMounts");
        }
    }
}
