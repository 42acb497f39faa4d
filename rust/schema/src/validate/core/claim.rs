//! Persistent volume claims.

use hydrofoil_types::{Causes, Path, Value};

use crate::read::{Read, Write};
use crate::validate::check::{Check, IMMUTABLE};
use crate::validate::format::{label, name};
use crate::validate::{resource, selector};
use crate::{Request, internal};

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
            causes.invalid(path, &Value::object(), detail);
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

const SPEC: Path<'static> = Path::new("spec");
const INTERNAL: &str = "core.PersistentVolumeClaimSpec";
const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const CLASS: &str = "volumeAttributesClassName";

/// `ValidatePersistentVolumeClaimUpdate` and that of the status.
pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return status(object, causes);
    }
    spec(object.sub("spec"), &SPEC, causes);
    let (new, before) = (object.sub("spec"), old.sub("spec"));
    let mut munged = new.clone();
    let mut kept = before.clone();
    if before.zero("volumeName") {
        kept.copy_from(new, "volumeName");
    }
    class_change(object, old, &mut munged, causes);
    if object.sub("status").s("phase") == "Bound" {
        let size = before.sub("resources").sub("requests").opt("storage").cloned();
        // Go's zero quantity, where the old claim had none.
        let size = size.unwrap_or_else(|| Value::from("0"));
        munged.within("resources", |r| r.within("requests", |m| m.put("storage", size)));
        munged.copy_from(before, CLASS);
    }
    if !internal::same(INTERNAL, &munged, &kept) {
        let changed = internal::diff(INTERNAL, &kept, &munged);
        let detail = format!(
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n{changed}"
        );
        causes.forbidden(&SPEC, &detail);
    }
    let size = |s: &Value| resource::quantity(s.sub("resources").sub("requests").sub("storage")).nano();
    let held = resource::quantity(old.sub("status").sub("capacity").sub("storage")).nano();
    if size(new) < size(before) && size(new) <= held {
        let at = SPEC.child("resources");
        let at = at.child("requests");
        causes.forbidden(&at.child("storage"), "field can not be less than status.capacity");
    }
    if new.s("volumeMode") != before.s("volumeMode") {
        causes.invalid(&Path::new("volumeMode"), new.sub("volumeMode"), IMMUTABLE);
    }
    if old.sub("status").has("currentVolumeAttributesClassName") {
        let at = SPEC.child(CLASS);
        let tail = "is forbidden when status.currentVolumeAttributesClassName is not nil";
        match new.opt(CLASS) {
            None => causes.forbidden(&at, &format!("update to nil {tail}")),
            Some(class) if class.is_zero() => causes.forbidden(&at, &format!("update to empty string {tail}")),
            Some(_) => {}
        }
    }
}

/// A class may move from the annotation to the field, or be set where there was none; the annotation stays.
fn class_change(object: &Value, old: &Value, munged: &mut Value, causes: &mut Causes) {
    let annotation = |o: &Value| o.sub("metadata").sub("annotations").opt(BETA_CLASS).cloned();
    let (now, before) = (annotation(object), annotation(old));
    let gained = object.sub("spec").opt("storageClassName").filter(|_| !old.sub("spec").has("storageClassName"));
    let moved = before.is_some() && gained == before.as_ref() && (now.is_none() || now == before);
    if !moved && now.as_ref().and_then(Value::as_str) != before.as_ref().and_then(Value::as_str) {
        let at = Path::new("metadata");
        let at = at.child("annotations");
        let shown = now.unwrap_or_else(|| Value::from(""));
        causes.invalid(&at.child(BETA_CLASS), &shown, IMMUTABLE);
    }
    if moved || (gained.is_some() && (before.is_none() || gained == before.as_ref())) {
        munged.drop("storageClassName");
    }
}

fn status(object: &Value, causes: &mut Causes) {
    const STATES: [&str; 5] = [
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
        "NodeResizePending",
    ];
    let path = Path::new("status");
    let status = object.sub("status");
    let basic = |amount: &Value, at: &Path<'_>, causes: &mut Causes| {
        let value = resource::quantity(amount).value();
        if value < 0 {
            causes.invalid_int(at, value as i64, "must be a valid resource quantity");
        }
    };
    let at = path.child("capacity");
    for (name, amount) in status.entries("capacity") {
        basic(amount, &at.key(name), causes);
    }
    let at = path.child("allocatedResourceStatuses");
    for (name, state) in status.entries("allocatedResourceStatuses") {
        resource_key(name, &at, causes);
        if !STATES.contains(&state.as_str().unwrap_or("")) {
            causes.unsupported(&at, name, &STATES);
        }
    }
    let at = path.child("allocatedResources");
    for (name, amount) in status.entries("allocatedResources") {
        let before = causes.len();
        resource_key(name, &at, causes);
        if causes.len() == before {
            basic(amount, &at.key(name), causes);
            if causes.len() == before {
                resource::value("storage", amount, &at.key(name), causes);
            }
        }
    }
}

fn resource_key(name: &str, at: &Path<'_>, causes: &mut Causes) {
    let before = causes.len();
    causes.format(at, name, label::key);
    if causes.len() == before && resource::is_native(name) && name != "storage" {
        causes.unsupported(at, name, &["storage"]);
    }
}
