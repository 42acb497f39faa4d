//! The selector of a job (`pkg/registry/batch/job/strategy.go` `generateSelector`).

use hydrofoil_types::Value;

use crate::read::{Read, Write};

/// An unlabelled job shares the labels of its template (`SetDefaults_Job`), those that are generated as well.
pub(super) fn share_labels(object: &mut Value) {
    let labels = object.sub("spec").sub("template").sub("metadata").opt("labels").cloned();
    if let Some(labels) = labels.filter(|l| !l.is_zero()) {
        object.make("metadata").put("labels", labels);
    }
}

pub(super) fn create(object: &mut Value) {
    if object.sub("spec").b("manualSelector") {
        return;
    }
    let name = object.sub("metadata").s("name").to_owned();
    let uid = object.sub("metadata").s("uid").to_owned();
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
    if !selector.has("controller-uid") && !selector.has("batch.kubernetes.io/controller-uid") {
        selector.put("batch.kubernetes.io/controller-uid", uid);
    }
}
