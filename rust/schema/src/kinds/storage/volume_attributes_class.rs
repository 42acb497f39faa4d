//! Volume attributes classes (`pkg/registry/storage/volumeattributesclass/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::class::{parameters, provisioner};
use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, same_map};

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    metadata_on_update: &[MetadataCheck::Update, MetadataCheck::Object],
    validate: |_, object, causes| validate(object, causes),
    validate_update: |_, object, old, causes| validate_update(object, old, causes),
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `ValidateVolumeAttributesClass`.
fn validate(object: &Value, causes: &mut Causes) {
    provisioner(object.text("driverName"), &Path::new("driverName"), causes);
    let at = Path::new("parameters");
    if object.zero("parameters") {
        causes.required(&at, "must contain at least one key/value pair");
    }
    parameters(object, causes);
}

/// `ValidateVolumeAttributesClassUpdate`.
fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    if object.text("driverName") != old.text("driverName") {
        causes.forbidden(&Path::new("driverName"), "updates to driverName are forbidden.");
    }
    if !same_map(object, old, "parameters") {
        causes.forbidden(&Path::new("parameters"), "updates to parameters are forbidden.");
    }
    validate(object, causes);
}

/// `printVolumeAttributesClass`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), subject.object.text("driverName"), subject.age()]
}
