//! The spec of claims and of templates of claims.

use hydrofoil_types::{Causes, Path, Value};

use crate::check::Check;
use crate::format::name;
use crate::quantities::{fractional, resource_list};
use crate::{resource, selector};
use hydrofoil_types::read::{Read, Write};

/// `SetDefaults_PersistentVolumeClaimSpec`.
pub fn default(spec: &mut Value) {
    spec.unset("volumeMode", "Filesystem");
    spec.within("resources", |r| {
        resource_list(r, "limits");
        resource_list(r, "requests");
    });
}

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// `ValidatePersistentVolumeClaimSpec`.
pub fn validate(spec: &Value, path: &Path<'_>, causes: &mut Causes) {
    let modes = spec.list("accessModes");
    let at = path.child("accessModes");
    if modes.is_empty() {
        causes.required(&at, "at least 1 access mode is required");
    }
    selector::label_selector(spec.field("selector"), &path.child("selector"), causes);
    access_modes(modes, &at, causes);
    let at = path.child("resources");
    match spec.field("resources").field("requests").opt("storage") {
        None => causes.need(&at.key("storage")),
        Some(amount) => {
            let at = at.key("storage");
            resource::positive(amount, &at, causes);
        }
    }
    if !spec.text("storageClassName").is_empty() {
        causes.format(&path.child("storageClassName"), spec.text("storageClassName"), name::subdomain);
    }
    if let Some(mode) = spec.opt("volumeMode") {
        causes.one_of(&path.child("volumeMode"), mode.as_str().unwrap_or(""), &["Block", "Filesystem"]);
    }
    source(spec, "dataSource", path, causes);
    source(spec, "dataSourceRef", path, causes);
    let reference = spec.field("dataSourceRef");
    if !reference.zero("namespace") {
        if spec.has("dataSource") {
            let detail = "may not be specified when dataSourceRef.namespace is specified";
            causes.invalid(path, &Value::object(), detail);
        }
    } else if spec.has("dataSource") && spec.has("dataSourceRef") {
        let (a, b) = (spec.field("dataSource"), reference);
        let same = ["kind", "name", "apiGroup"].iter().all(|k| a.text(k) == b.text(k) && a.has(k) == b.has(k));
        if !same {
            causes.invalid(path, &Value::object(), "must match dataSourceRef");
        }
    }
    if let Some(class) = spec.opt("volumeAttributesClassName") {
        let class = class.as_str().unwrap_or("");
        if !class.is_empty() {
            causes.format(&path.child("volumeAttributesClassName"), class, name::subdomain);
        }
    }
}

/// Validate that access modes are known, and `ReadWriteOncePod` alone.
pub fn access_modes(modes: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let (mut single, mut other) = (false, false);
    for mode in modes.iter().map(|m| m.as_str().unwrap_or("")) {
        causes.one_of(path, mode, &MODES);
        single |= mode == "ReadWriteOncePod";
        other |= MODES[..3].contains(&mode);
    }
    if single && other {
        causes.forbidden(path, "may not use ReadWriteOncePod with other access modes");
    }
}

fn source(spec: &Value, key: &str, path: &Path<'_>, causes: &mut Causes) {
    let Some(source) = spec.opt(key) else { return };
    let at = path.child(key);
    let group = source.text("apiGroup");
    for key in ["name", "kind"] {
        if source.zero(key) {
            causes.need(&at.child(key));
        }
    }
    if group.is_empty() && source.text("kind") != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        causes.invalid_str(&at, source.text("kind"), detail);
    }
    if source.has("apiGroup") && !group.is_empty() {
        causes.format(&at.child("apiGroup"), group, name::subdomain);
    }
    if key == "dataSourceRef" && !source.zero("namespace") {
        causes.format(&at.child("namespace"), source.text("namespace"), name::label);
    }
}

/// `GetWarningsForPersistentVolumeClaimSpec`.
pub fn warn(spec: &Value, path: &Path<'_>, out: &mut Vec<String>) {
    let at = path.child("resources");
    for key in ["requests", "limits"] {
        fractional(spec.field("resources").field(key), "storage", &at.child(key), out);
    }
}

/// Warn of the class of volumes and claims by annotation.
pub fn warn_class(object: &Value, out: &mut Vec<String>) {
    if object.field("metadata").field("annotations").has(CLASS) {
        out.push(format!(
            "metadata.annotations[{CLASS}]: deprecated since v1.8; use \"storageClassName\" attribute instead"
        ));
    }
}

const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
