//! The selector of a job (`pkg/registry/batch/job/strategy.go` `generateSelector`).

use hydrofoil_types::Value;

use hydrofoil_types::read::{Read, Write};

/// Copy the labels of its template to an unlabelled job (`SetDefaults_Job`), those that are generated as well.
pub(crate) fn share_labels(object: &mut Value) {
    let labels = object.field("spec").field("template").field("metadata").opt("labels").cloned();
    if let Some(labels) = labels.filter(|l| !l.is_zero()) {
        object.make("metadata").put("labels", labels);
    }
}

/// `PrepareForCreate`: generate the labels and the selector.
pub(crate) fn create(object: &mut Value) {
    if object.field("spec").flag("manualSelector") {
        return;
    }
    let name = object.field("metadata").text("name").to_owned();
    let uid = object.field("metadata").text("uid").to_owned();
    let spec = object.make("spec");
    let labels = spec.make("template").make("metadata").make("labels");
    for (key, value) in [
        ("job-name", &name),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        ("batch.kubernetes.io/controller-uid", &uid),
    ] {
        // A label that contradicts is left for validation to find.
        if !labels.has(key) {
            labels.put(key, value.as_str());
        }
    }
    if let Some(map) = labels.as_object_mut() {
        map.sort_keys();
    }
    let selector = spec.make("selector").make("matchLabels");
    if !selector.has("batch.kubernetes.io/controller-uid") {
        selector.put("batch.kubernetes.io/controller-uid", uid);
    }
}
