//! Persistent volume claims.

use hydrofoil_types::{Causes, Path, Value};

use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::name;
use crate::validate::{resource, selector};

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// `ValidatePersistentVolumeClaimSpec`.
pub(crate) fn spec(spec: &Value, path: &Path<'_>, causes: &mut Causes) {
    let modes = spec.list("accessModes");
    let at = path.child("accessModes");
    if modes.is_empty() {
        causes.required(&at, "at least 1 access mode is required");
    }
    selector::label_selector(spec.sub("selector"), &path.child("selector"), causes);
    access_modes(modes, &at, causes);
    let at = path.child("resources");
    match spec.sub("resources").sub("requests").opt("storage") {
        None => causes.need(&at.key("storage")),
        Some(amount) => {
            let at = at.key("storage");
            resource::positive(amount, &at, causes);
        }
    }
    if !spec.s("storageClassName").is_empty() {
        causes.format(&path.child("storageClassName"), spec.s("storageClassName"), name::subdomain);
    }
    if let Some(mode) = spec.opt("volumeMode") {
        causes.one_of(&path.child("volumeMode"), mode.as_str().unwrap_or(""), &["Block", "Filesystem"]);
    }
    source(spec, "dataSource", path, causes);
    source(spec, "dataSourceRef", path, causes);
    let reference = spec.sub("dataSourceRef");
    if !reference.zero("namespace") {
        if spec.has("dataSource") {
            let detail = "may not be specified when dataSourceRef.namespace is specified";
            causes.invalid(&path.child("dataSource"), spec.sub("dataSource"), detail);
        }
    } else if spec.has("dataSource") && spec.has("dataSourceRef") {
        let (a, b) = (spec.sub("dataSource"), reference);
        let same = ["kind", "name", "apiGroup"].iter().all(|k| a.s(k) == b.s(k) && a.has(k) == b.has(k));
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

/// Access modes that are known, and `ReadWriteOncePod` alone.
pub(crate) fn access_modes(modes: &[Value], path: &Path<'_>, causes: &mut Causes) {
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
    let group = source.s("apiGroup");
    for key in ["name", "kind"] {
        if source.zero(key) {
            causes.need(&at.child(key));
        }
    }
    if group.is_empty() && source.s("kind") != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        causes.invalid_str(&at, source.s("kind"), detail);
    }
    if source.has("apiGroup") && !group.is_empty() {
        causes.format(&at.child("apiGroup"), group, name::subdomain);
    }
}
