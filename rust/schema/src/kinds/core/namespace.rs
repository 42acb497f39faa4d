//! Namespaces (`pkg/registry/core/namespace/strategy.go`).

use hydrofoil_types::{Causes, Path, Timestamp, Value};

use crate::Request;
use crate::kind::{MetadataCheck, NameRule, Strategy};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::label;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::Label,
    returns_deleted_object: true,
    has_status: true,
    reset_fields: |subresource| (subresource == "finalize").then_some(&[&["status"]]),
    default: |_, object, _| default(object),
    prepare_create: |_, object, _| prepare_create(object),
    prepare_update: |_, object, old| prepare_update(object, old),
    prepare_subresource: |_, subresource, object, old, now| finalize(subresource, object, old, now),
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| validate(object, causes),
    validate_update: |req, object, _, causes| validate_update(req, object, causes),
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    object.make("status").fill("phase", "Active");
    label_name(object);
}

/// Set the label that holds the name of a namespace.
fn label_name(object: &mut Value) {
    let name = object.field("metadata").text("name").to_owned();
    if name.is_empty() {
        return;
    }
    let labels = object.make("metadata").make("labels");
    labels.put("kubernetes.io/metadata.name", name);
    if let Some(map) = labels.as_object_mut() {
        map.sort_keys();
    }
}

fn prepare_create(object: &mut Value) {
    object.make("status").put("phase", "Active");
    // After a name was generated.
    label_name(object);
    let spec = object.make("spec");
    let mut finalizers = spec.list("finalizers").to_vec();
    if !finalizers.iter().any(|f| f.as_str() == Some("kubernetes")) {
        finalizers.push(Value::from("kubernetes"));
        spec.put("finalizers", finalizers);
    }
}

/// Keep the finalizers of the spec, which are set by their own subresource.
fn prepare_update(object: &mut Value, old: &Value) {
    let finalizers = old.field("spec").opt("finalizers").cloned();
    match finalizers {
        Some(list) => object.make("spec").put("finalizers", list),
        None => object.make("spec").drop("finalizers"),
    }
}

/// `/finalize` of a namespace.
fn finalize(subresource: &str, object: &mut Value, old: &Value, _now: Timestamp) {
    if subresource == "finalize" {
        object.copy_from(old, "status");
    }
}

fn validate(object: &Value, causes: &mut Causes) {
    let spec = Path::new("spec");
    for value in object.field("spec").list("finalizers") {
        finalizer(value, &spec.child("finalizers"), causes);
    }
}

fn validate_update(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    match req.subresource {
        "status" => {
            let path = Path::new("status");
            let phase = object.field("status").text("phase");
            let deleted = object.field("metadata").has("deletionTimestamp");
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
            for (i, value) in object.field("spec").list("finalizers").iter().enumerate() {
                finalizer(value, &at.index(i), causes);
            }
        }
        _ => {}
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

/// `printNamespace`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), subject.status().text("phase"), subject.age()]
}
