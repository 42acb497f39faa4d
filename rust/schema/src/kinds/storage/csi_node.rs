//! CSI nodes (`pkg/registry/storage/csinode/strategy.go`).

use std::collections::HashMap;

use hydrofoil_types::{Causes, Duplicates, Path, Value, Whole};

use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::label;
use hydrofoil_rules::pod_template::validate::csi_driver_name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    returns_deleted_object: true,
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[MetadataCheck::Object],
    validate: |_, object, causes| validate(object.field("spec"), causes),
    validate_update: |_, object, old, causes| validate_update(object, old, causes),
    row: Some(row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

/// `validateCSINodeSpec`.
fn validate(spec: &Value, causes: &mut Causes) {
    let path = SPEC.child("drivers");
    let drivers = spec.list("drivers");
    let duplicates = Duplicates::of(drivers, |v| v.text("name"));
    for (i, driver) in drivers.iter().enumerate() {
        let at = path.index(i);
        csi_driver_name(driver.text("name"), &at.child("name"), causes);
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("name"), driver.text("name"));
        }
        let id_at = at.child("nodeID");
        let id = driver.text("nodeID");
        if id.is_empty() {
            causes.need(&id_at);
        } else if id.len() > 256 {
            causes.invalid_str(&id_at, id, "must be 256 characters or less");
        }
        if let Some(count) = driver.field("allocatable").opt_int("count") {
            let at = at.child("allocatable");
            causes.not_negative(&at.child("count"), count);
        }
        let keys = driver.list("topologyKeys");
        let duplicates = Duplicates::of(keys, Whole);
        for (j, key) in keys.iter().enumerate() {
            let text = key.as_str().unwrap_or("");
            // Upstream reports keys under the driver itself.
            if text.is_empty() {
                causes.need(&at);
            }
            if duplicates.is_repeat(j) {
                causes.duplicate_str(&at, text);
            }
            causes.format(&at, text, label::key);
        }
    }
}

/// `ValidateCSINodeUpdate`: a driver of a node changes only its limits.
fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    validate(object.field("spec"), causes);
    let mut named: HashMap<&str, Vec<&Value>> = HashMap::new();
    for driver in object.field("spec").list("drivers") {
        named.entry(driver.text("name")).or_default().push(driver);
    }
    for before in old.field("spec").list("drivers") {
        for driver in named.get(before.text("name")).into_iter().flatten() {
            let (mut now, mut then) = ((*driver).clone(), before.clone());
            now.drop("allocatable");
            then.drop("allocatable");
            causes.immutable_internal(&SPEC.child("drivers"), "storage.CSINodeDriver", &now, &then);
        }
    }
}

/// `printCSINode`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), subject.spec().list("drivers").len() as i64, subject.age()]
}
