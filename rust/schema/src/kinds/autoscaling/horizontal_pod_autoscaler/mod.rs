//! Horizontal pod autoscalers (`pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go`).

mod convert;
mod default;
mod metric;
mod table;
mod validate;

use hydrofoil_types::{Causes, Value};

use crate::kind::{Conversion, Request, Strategy};
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    default: |_, object, _| default::v2(object),
    after_decode: convert::drop_annotations,
    drop_disabled,
    validate: |req, object, causes| validate::rules(req.release(), object, None, causes),
    validate_update,
    row: Some(table::autoscaler),
    ..Strategy::DEFAULT
};

/// Version 1, which keeps in annotations the data that it has no fields for.
pub(crate) static V1: Strategy = Strategy {
    has_status: true,
    default: |_, object, _| default_v1(object),
    internal: Some(Conversion { up: convert::up, down: convert::down }),
    storage: Some(Conversion { up: to_stored, down: convert::down }),
    drop_disabled,
    validate: |req, object, causes| validate::rules(req.release(), object, None, causes),
    validate_update,
    row: Some(table::autoscaler),
    ..Strategy::DEFAULT
};

const DIRECTIONS: [&str; 2] = ["scaleDown", "scaleUp"];

/// Drop the tolerances, unless the old object has one.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    if release.enabled(Gate::HPAConfigurableTolerance) {
        return;
    }
    let behavior = old.map_or(&Value::Null, |o| o.field("spec").field("behavior"));
    if DIRECTIONS.iter().any(|key| behavior.field(key).has("tolerance")) {
        return;
    }
    object.within("spec", |spec| {
        spec.within("behavior", |b| {
            for key in DIRECTIONS {
                b.within(key, |rules| rules.drop("tolerance"));
            }
        });
    });
}

fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    match req.subresource {
        "status" => validate::status(object, causes),
        _ => validate::rules(req.release(), object, Some(old), causes),
    }
}

/// Set the defaults of version 1: those of the conversion to the internal type and back.
fn default_v1(object: &mut Value) {
    object.make("spec").unset("minReplicas", 1);
    convert::up(object);
    convert::down(object);
}

/// Convert version 1 to the version that is stored, with its defaults, as objects read from the store have them.
fn to_stored(object: &mut Value) {
    convert::up(object);
    default::v2(object);
}
