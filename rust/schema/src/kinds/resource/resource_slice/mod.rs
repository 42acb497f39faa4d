//! Resource slices (`pkg/registry/resource/resourceslice/strategy.go`).

mod capacity;
mod convert;
mod counters;
mod device;
mod validate;

use hydrofoil_types::{Timestamp, Value, quoted};

use super::taint;
use crate::kind::{Conversion, GenerationRule, Strategy};
use crate::read::{Read, Write};
use crate::rules::table::{Subject, cells};

pub(crate) static STRATEGY: Strategy = Strategy { ..V1 };

/// The versions whose requests and devices are like those of version 1.
const V1: Strategy = Strategy {
    returns_deleted_object: true,
    generation: GenerationRule::of_spec("resource.ResourceSliceSpec"),
    drop_disabled: |object, _| object.within("spec", |spec| spec.each("devices", drop_disabled)),
    validate: |_, object, causes| validate::slice(object, None, causes),
    validate_update: |_, object, old, causes| validate::slice(object, Some(old), causes),
    warn_create: warn,
    warn_update: |object, _, out| warn(object, out),
    row: Some(row),
    unknown_field: |version, label| {
        Some(format!("field label not supported for resource.k8s.io/{version}, Kind=ResourceSlice: {label}"))
    },
    default: |object, now| default("v1", object, now),
    ..Strategy::DEFAULT
};

/// Version 1beta1.
pub(crate) static V1BETA1: Strategy = Strategy {
    default: |object, now| default("v1beta1", object, now),
    internal: Some(CONVERSION),
    storage: Some(CONVERSION),
    ..V1
};

const CONVERSION: Conversion = Conversion { up: convert::up, down: convert::down };

/// Drop what `DRANodeAllocatableResources` and `DRAListTypeAttributes` would serve.
fn drop_disabled(device: &mut Value) {
    device.drop("nodeAllocatableResourceMappings");
    let Some(attributes) = device.get_mut("attributes").and_then(Value::as_object_mut) else { return };
    for (_, attribute) in attributes.iter_mut() {
        for list in ["bools", "ints", "strings", "versions"] {
            attribute.drop(list);
        }
    }
}

fn default(version: &str, object: &mut Value, now: Timestamp) {
    object.within("spec", |spec| {
        spec.each("devices", |device| {
            if version == "v1beta1" {
                device.within("basic", |d| d.each("taints", |t| taint::default(t, now)));
            } else {
                device.each("taints", |t| taint::default(t, now));
            }
        });
    });
}

/// Warn of a driver named with capitals.
fn warn(object: &Value, out: &mut Vec<String>) {
    let name = object.field("spec").text("driver");
    if name != name.to_lowercase() {
        let shown = quoted(name);
        out.push(format!("spec.driver: driver names should be lowercase; {shown} contains uppercase characters"));
    }
}

/// `printResourceSlice`.
fn row(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    cells![of.name(), spec.text("nodeName"), spec.text("driver"), spec.field("pool").text("name"), of.age()]
}
