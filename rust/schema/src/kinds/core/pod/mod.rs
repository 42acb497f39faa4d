//! Pods (`pkg/registry/core/pod/strategy.go`).

mod default;
mod prepare;
mod resize;
mod status;
mod table;
mod update;
mod validate;

use hydrofoil_types::{Path, SmolStr, Value};

use crate::kind::{GenerationRule, MetadataOrder, Strategy};
use hydrofoil_rules::Release;
use hydrofoil_rules::pod_template::{self, gates};
use hydrofoil_rules::{address, hostname};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    graceful_delete: true,
    has_status: true,
    creates_status: true,
    reset_fields: |subresource| {
        (subresource == "status").then_some(&[
            &["spec"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ])
    },
    generation: GenerationRule::of_spec(SPEC),
    default: |release, object, _| default::pod(release, object),
    drop_disabled,
    prepare_create: prepare::create,
    prepare_status: |_, object, old, _| prepare::status(object, old),
    prepare_subresource: |release, subresource, object, old, _| prepare::subresource(release, subresource, object, old),
    metadata_order: MetadataOrder::Own,
    validate: |req, object, causes| validate::create(req.kind, object, causes),
    validate_update: update::update,
    warn_prepared: |_, object, out| pod_template::warn::apparmor(object, out),
    warn_create: |_, object, out| {
        hostname::warn(object, "the Pod's hostname", out);
        pod_template::warn::apparmor(object, out);
        pod_template::warn::warnings(object, &Path::root(), false, out);
    },
    warn_status: |_, status, out| {
        for key in ["podIPs", "hostIPs"] {
            let path = Path::new("status");
            let path = path.child(key);
            for (i, entry) in status.list(key).iter().enumerate() {
                address::ip(entry.text("ip"), &path.index(i).child("ip"), out);
            }
        }
    },
    row: Some(table::pod),
    row_conditions: table::conditions,
    field_value,
    ..Strategy::DEFAULT
};

/// The internal type of the specification.
const SPEC: &str = "core.PodSpec";

/// `dropDisabledFields` and `dropDisabledPodStatusFields`.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    object.within("spec", |s| gates::pod_spec(release, s, old.map(|o| o.field("spec"))));
    object.within("status", |s| gates::pod_status(release, s, old.map(|o| o.field("status"))));
}

/// `ToSelectableFields`.
fn field_value(label: &str, object: &Value) -> Option<SmolStr> {
    match label {
        "spec.host" => Some(object.field("spec").text("nodeName").into()),
        "status.podIPs" => Some(SmolStr::default()),
        _ => None,
    }
}
