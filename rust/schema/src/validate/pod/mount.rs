//! Mounts and block devices of a container.

use hydrofoil_types::{Causes, Path, Value};

use super::{Checked, path};
use crate::read::Read;
use crate::validate::check::Check;

fn volume<'a>(spec: &Checked<'a>, name: &str) -> Option<&'a Value> {
    spec.volumes.iter().copied().find(|v| v.s("name") == name)
}

pub(super) fn mounts(container: &Value, spec: &Checked<'_>, at: &Path<'_>, causes: &mut Causes) {
    let mounts = container.list("volumeMounts");
    let devices = container.list("volumeDevices");
    for (i, mount) in mounts.iter().enumerate() {
        let idx = at.index(i);
        let (name, target) = (mount.s("name"), mount.s("mountPath"));
        if name.is_empty() {
            causes.need(&idx.child("name"));
        }
        if volume(spec, name).is_none() {
            causes.not_found(&idx.child("name"), &Value::from(name));
        }
        if target.is_empty() {
            causes.need(&idx.child("mountPath"));
        }
        if mounts[..i].iter().any(|m| m.s("mountPath") == target) {
            causes.invalid_str(&idx.child("mountPath"), target, "must be unique");
        }
        if devices.iter().any(|d| d.s("name") == name) {
            causes.invalid_str(&idx.child("name"), name, "must not already exist in volumeDevices");
        }
        if devices.iter().any(|d| d.s("devicePath") == target) {
            causes.invalid_str(&idx.child("mountPath"), target, "must not already exist as a path in volumeDevices");
        }
        // Upstream reports these without the index.
        if !mount.zero("subPath") {
            path::descending(mount.s("subPath"), &at.child("subPath"), causes);
        }
        if !mount.zero("subPathExpr") {
            let text = mount.s("subPathExpr");
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
    if mode == "Bidirectional" && !container.sub("securityContext").b("privileged") {
        causes.forbidden(at, "Bidirectional mount propagation is available only to privileged containers");
    }
}

fn read_only(mount: &Value, at: &Path<'_>, causes: &mut Causes) {
    let Some(mode) = mount.opt("recursiveReadOnly") else { return };
    match mode.as_str().unwrap_or("") {
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.b("readOnly") {
                causes.forbidden(at, "may only be specified when readOnly is true");
            }
            if mount.has("mountPropagation") && mount.s("mountPropagation") != "None" {
                causes.forbidden(at, "may only be specified when mountPropagation is None or not specified");
            }
        }
        other => causes.unsupported(at, other, &["Disabled", "Enabled", "IfPossible"]),
    }
}

pub(super) fn devices(container: &Value, spec: &Checked<'_>, at: &Path<'_>, causes: &mut Causes) {
    let devices = container.list("volumeDevices");
    let mounts = container.list("volumeMounts");
    let mut paths: Vec<&str> = Vec::new();
    for (i, device) in devices.iter().enumerate() {
        let idx = at.index(i);
        let (name, target) = (device.s("name"), device.s("devicePath"));
        if name.is_empty() {
            causes.need(&idx.child("name"));
        }
        if !name.is_empty() && devices[..i].iter().any(|d| d.s("name") == name) {
            causes.invalid_str(&idx.child("name"), name, "must be unique");
        }
        match volume(spec, name) {
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
            paths.push(target);
        }
        if mounts.iter().any(|m| m.s("name") == name) {
            causes.invalid_str(&idx.child("name"), name, "must not already exist in volumeMounts");
        }
        if mounts.iter().any(|m| m.s("mountPath") == target) {
            causes.invalid_str(&idx.child("devicePath"), target, "must not already exist as a path in volumeMounts");
        }
    }
}
