//! The generation of a daemon set's template, which lives on as an annotation
//! (`pkg/apis/apps/v1/conversion.go`).

use hydrofoil_types::Value;

use crate::Kind;
use crate::read::{Read, Write, same_field};

const KEY: &str = "deprecated.daemonset.template.generation";

/// The annotation that the internal objects of a kind do not have.
pub fn converted_annotation(kind: &Kind) -> Option<&'static str> {
    (kind.key() == ("apps", "DaemonSet")).then_some(KEY)
}

/// Takes an annotation from metadata.
pub fn drop_annotation(metadata: &mut Value, key: &str) {
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.remove(key);
    if annotations.is_empty() {
        metadata.drop("annotations");
    }
}

fn read(object: &Value) -> i64 {
    object.sub("metadata").sub("annotations").s(KEY).parse().unwrap_or(0)
}

fn write(object: &mut Value, generation: i64) {
    let annotations = object.make("metadata").make("annotations");
    annotations.put(KEY, generation.to_string());
    if let Some(map) = annotations.as_object_mut() {
        map.sort_keys();
    }
}

/// Decoding and encoding alone put the annotation there.
pub(crate) fn convert(object: &mut Value) {
    if !object.sub("metadata").sub("annotations").has(KEY) {
        write(object, 0);
    }
}

/// A status is written with the specification as it was, to which the generation belongs.
pub(super) fn status(object: &mut Value, old: &Value) {
    write(object, read(old));
}

pub(super) fn create(object: &mut Value) {
    let generation = read(object).max(1);
    write(object, generation);
}

/// The generation is not the client's to set; it grows with every change of the template.
pub(super) fn update(object: &mut Value, old: &Value) {
    let changed = !same_field(object.sub("spec"), old.sub("spec"), "template");
    write(object, read(old).wrapping_add(i64::from(changed)));
}
