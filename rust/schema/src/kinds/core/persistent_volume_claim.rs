//! Persistent volume claims (`pkg/registry/core/persistentvolumeclaim/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_internal as internal;
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::format::label;
use hydrofoil_rules::quantities::resource_list;
use hydrofoil_rules::table::text::{self, deref};
use hydrofoil_rules::table::{Subject, cells, volume};
use hydrofoil_rules::{Gate, Release};
use hydrofoil_rules::{resource, volume_claim};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    has_status: true,
    default: |_, object, _| default(object),
    prepare_create: |release, object, _| prepare_create(release, object),
    prepare_update,
    metadata_on_update: &[MetadataCheck::Update, MetadataCheck::Object],
    validate: |_, object, causes| volume_claim::validate(object.field("spec"), &Path::new("spec"), causes),
    validate_update,
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, _, out| warn(object, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `SetDefaults_PersistentVolumeClaim`.
pub(crate) fn default(object: &mut Value) {
    object.make("status").fill("phase", "Pending");
    object.within("status", |s| {
        resource_list(s, "capacity");
        resource_list(s, "allocatedResources");
    });
    volume_claim::default(object.make("spec"));
}

/// `PrepareForCreate`.
fn prepare_create(release: Release, object: &mut Value) {
    object.make("status").put("phase", "Pending");
    normalize_sources(release, object.make("spec"), &Value::Null);
}

/// `PrepareForUpdate`.
fn prepare_update(release: Release, object: &mut Value, old: &Value) {
    normalize_sources(release, object.make("spec"), old.field("spec"));
}

/// `NormalizeDataSources`: either field fills the other.
fn normalize_sources(release: Release, spec: &mut Value, old: &Value) {
    let crosses = !spec.field("dataSourceRef").zero("namespace");
    if crosses && !release.enabled(Gate::CrossNamespaceVolumeDataSource) && !old.has("dataSourceRef") {
        spec.drop("dataSourceRef");
    }
    // EnforceDataSourceBackwardsCompatibility: alone, the old field of a new claim allows claims and snapshots only.
    let known = old.has("dataSource")
        || old.has("dataSourceRef")
        || spec.has("dataSourceRef")
        || spec.opt("dataSource").is_none_or(|s| match s.text("kind") {
            "PersistentVolumeClaim" => s.text("apiGroup").is_empty(),
            "VolumeSnapshot" => s.text("apiGroup") == "snapshot.storage.k8s.io",
            _ => false,
        });
    if !known {
        spec.drop("dataSource");
    }
    match (spec.opt("dataSource").cloned(), spec.opt("dataSourceRef").cloned()) {
        (Some(source), None) => spec.put("dataSourceRef", source),
        (None, Some(reference)) if reference.zero("namespace") => {
            let mut source = reference;
            source.drop("namespace");
            spec.put("dataSource", source);
        }
        _ => {}
    }
}

const SPEC: Path<'static> = Path::new("spec");

const INTERNAL: &str = "core.PersistentVolumeClaimSpec";

const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

const CLASS: &str = "volumeAttributesClassName";

/// `ValidatePersistentVolumeClaimUpdate` and that of the status.
fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return validate_status(object, causes);
    }
    volume_claim::validate(object.field("spec"), &SPEC, causes);
    let (new, before) = (object.field("spec"), old.field("spec"));
    let mut munged = new.clone();
    let mut kept = before.clone();
    if before.zero("volumeName") {
        kept.copy_from(new, "volumeName");
    }
    class_change(object, old, &mut munged, causes);
    if object.field("status").text("phase") == "Bound" {
        let size = before.field("resources").field("requests").opt("storage").cloned();
        // Go's zero quantity, if the old claim had none.
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
    let size = |s: &Value| resource::quantity(s.field("resources").field("requests").field("storage")).nano();
    let held = resource::quantity(old.field("status").field("capacity").field("storage")).nano();
    if size(new) < size(before) && size(new) <= held {
        let at = SPEC.child("resources");
        let at = at.child("requests");
        causes.forbidden(&at.child("storage"), "field can not be less than status.capacity");
    }
    if new.text("volumeMode") != before.text("volumeMode") {
        causes.invalid(&Path::new("volumeMode"), new.field("volumeMode"), IMMUTABLE);
    }
    if old.field("status").has("currentVolumeAttributesClassName") {
        let at = SPEC.child(CLASS);
        let tail = "is forbidden when status.currentVolumeAttributesClassName is not nil";
        match new.opt(CLASS) {
            None => causes.forbidden(&at, &format!("update to nil {tail}")),
            Some(class) if class.is_zero() => causes.forbidden(&at, &format!("update to empty string {tail}")),
            Some(_) => {}
        }
    }
}

/// Allow a class to move from the annotation to the field, or be set if there was none; the annotation stays.
fn class_change(object: &Value, old: &Value, munged: &mut Value, causes: &mut Causes) {
    let annotation = |o: &Value| o.field("metadata").field("annotations").opt(BETA_CLASS).cloned();
    let (now, before) = (annotation(object), annotation(old));
    let gained = object.field("spec").opt("storageClassName").filter(|_| !old.field("spec").has("storageClassName"));
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

fn validate_status(object: &Value, causes: &mut Causes) {
    const STATES: [&str; 5] = [
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
        "NodeResizePending",
    ];
    let path = Path::new("status");
    let status = object.field("status");
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

/// Warn of a claim.
fn warn(object: &Value, out: &mut Vec<String>) {
    volume_claim::warn_class(object, out);
    volume_claim::warn(object.field("spec"), &Path::new("spec"), out);
}

/// `printPersistentVolumeClaim`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (subject.spec(), subject.status());
    let volume = spec.text("volumeName");
    let (mut capacity, mut access) = (String::new(), String::new());
    if !volume.is_empty() {
        capacity = text::quantity(status.field("capacity"), "storage");
        access = volume::modes(status.list("accessModes"));
    }
    cells![
        subject.name(),
        volume::phase(subject),
        volume,
        capacity,
        access,
        volume::class(subject),
        deref(spec, "volumeAttributesClassName", "<unset>"),
        subject.age(),
        deref(spec, "volumeMode", "<unset>"),
    ]
}
