//! Resource slices (`pkg/registry/resource/resourceslice/strategy.go`).

mod capacity;
mod convert;
mod counters;
mod device;
mod gates;
mod validate;

use hydrofoil_text::quoted;
use hydrofoil_types::{Timestamp, Value};

use super::taint;
use crate::kind::{Conversion, GenerationRule, Strategy};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy { ..V1 };

/// The versions whose requests and devices are like those of version 1.
const V1: Strategy = Strategy {
    returns_deleted_object: true,
    generation: GenerationRule::of_spec("resource.ResourceSliceSpec"),
    drop_disabled: gates::drop_disabled,
    validate: |_, object, causes| validate::slice(object, None, causes),
    validate_update: |_, object, old, causes| validate::slice(object, Some(old), causes),
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, _, out| warn(object, out),
    row: Some(row),
    unknown_field: |version, label| {
        Some(format!("field label not supported for resource.k8s.io/{version}, Kind=ResourceSlice: {label}"))
    },
    default: |_, object, now| default("v1", object, now),
    ..Strategy::DEFAULT
};

/// Version 1beta1.
pub(crate) static V1BETA1: Strategy = Strategy {
    default: |_, object, now| default("v1beta1", object, now),
    internal: Some(CONVERSION),
    storage: Some(CONVERSION),
    ..V1
};

const CONVERSION: Conversion = Conversion { up: convert::up, down: convert::down };

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
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    cells![subject.name(), spec.text("nodeName"), spec.text("driver"), spec.field("pool").text("name"), subject.age()]
}
