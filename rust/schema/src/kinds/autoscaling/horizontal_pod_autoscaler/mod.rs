//! Horizontal pod autoscalers (`pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go`).

mod convert;
mod default;
mod metric;
mod table;
mod validate;

use hydrofoil_types::{Causes, Value};

use crate::kind::{Conversion, Request, Strategy};
use crate::read::Write;

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    default: |object, _| default::v2(object),
    after_decode: convert::drop_annotations,
    validate: |_, object, causes| validate::rules(object, None, causes),
    validate_update,
    row: Some(table::autoscaler),
    ..Strategy::DEFAULT
};

/// Version 1, which keeps in annotations the data that it has no fields for.
pub(crate) static V1: Strategy = Strategy {
    has_status: true,
    default: |object, _| default_v1(object),
    internal: Some(Conversion { up: convert::up, down: convert::down }),
    storage: Some(Conversion { up: stored, down: convert::down }),
    validate: |_, object, causes| validate::rules(object, None, causes),
    validate_update,
    row: Some(table::autoscaler),
    ..Strategy::DEFAULT
};

fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    match req.subresource {
        "status" => validate::status(object, causes),
        _ => validate::rules(object, Some(old), causes),
    }
}

/// Set the defaults of version 1: those of the conversion to the internal type and back.
fn default_v1(object: &mut Value) {
    object.make("spec").unset("minReplicas", 1);
    convert::up(object);
    convert::down(object);
}

/// Convert version 1 to the version that is stored, with its defaults, as objects read from the store have them.
fn stored(object: &mut Value) {
    convert::up(object);
    default::v2(object);
}
