//! CSI storage capacities (`pkg/registry/storage/csistoragecapacity/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::{node_label, resource, selector};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| validate(object, causes),
    validate_update: |_, object, old, causes| validate_update(object, old, causes),
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, _, out| warn(object, out),
    ..Strategy::DEFAULT
};

/// `ValidateCSIStorageCapacity`.
fn validate(object: &Value, causes: &mut Causes) {
    selector::label_selector(object.field("nodeTopology"), &Path::new("nodeTopology"), causes);
    let class = object.text("storageClassName");
    causes.format(&Path::new("storageClassName"), class, name::subdomain);
    if let Some(amount) = object.opt("capacity") {
        resource::not_negative(amount, &Path::new("capacity"), causes);
    }
}

/// `ValidateCSIStorageCapacityUpdate`.
fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    validate(object, causes);
    for (key, shape) in [("nodeTopology", "*meta.LabelSelector"), ("storageClassName", "s")] {
        causes.immutable_internal(&Path::new(key), shape, object.field(key), old.field(key));
    }
}

/// Warn of deprecated labels in the topology of a storage capacity.
fn warn(object: &Value, out: &mut Vec<String>) {
    node_label::selector(object.field("nodeTopology"), &Path::new("nodeTopology"), out);
}
