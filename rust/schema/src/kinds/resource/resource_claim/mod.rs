//! Resource claims (`pkg/registry/resource/resourceclaim/strategy.go`).

mod status;

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use super::device_claim;
use crate::kind::{Conversion, MetadataCheck, Request, Strategy, reset_metadata};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::Release;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy { ..V1 };

/// The versions whose requests and devices are like those of v1.
const V1: Strategy = Strategy {
    returns_deleted_object: true,
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    drop_disabled,
    prepare_status: |release, object, old, _| status::prepare(release, object, old),
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| validate(object, causes),
    validate_update,
    row: Some(row),
    default: |_, object, _| default("v1", object),
    ..Strategy::DEFAULT
};

/// Version 1beta1.
pub(crate) static V1BETA1: Strategy = Strategy {
    default: |_, object, _| default("v1beta1", object),
    internal: Some(CONVERSION),
    storage: Some(CONVERSION),
    ..V1
};

const CONVERSION: Conversion = Conversion {
    up: |object| object.within("spec", device_claim::convert::up),
    down: |object| object.within("spec", device_claim::convert::down),
};

const SPEC: Path<'static> = Path::new("spec");

/// `dropDisabledSpecFields` and `dropDisabledStatusFields`.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    let spec = old.map_or(&Value::Null, |o| o.field("spec"));
    object.within("spec", |new| device_claim::gates::drop_disabled(release, new, spec));
    status::drop_disabled(release, object, old.unwrap_or(&Value::Null));
}

fn default(version: &str, object: &mut Value) {
    object.within("spec", |spec| device_claim::default::default(version, spec));
    object.within("status", |status| {
        status.within("allocation", |a| {
            a.within("devices", |d| d.each("results", |r| r.each("tolerations", device_claim::default::toleration)));
        });
    });
}

/// `ValidateResourceClaim`.
fn validate(object: &Value, causes: &mut Causes) {
    let devices = object.field("spec").field("devices");
    device_claim::validate::devices(devices, &SPEC.child("devices"), causes);
    let requests = devices.list("requests");
    if requests.len() > device_claim::validate::MOST {
        // The declared rules of claims detect duplicates all the same.
        twins(requests, &SPEC.child("devices").child("requests"), causes);
    }
}

/// `ValidateResourceClaimUpdate` and `ValidateResourceClaimStatusUpdate`.
fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return status::validate_update(object, old, causes);
    }
    causes.immutable_internal(&SPEC, "resource.ResourceClaimSpec", object.field("spec"), old.field("spec"));
}

fn twins(requests: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let duplicates = Duplicates::of(requests, |v| v.text("name"));
    for (i, one) in requests.iter().enumerate() {
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&path.index(i), one.text("name"));
        }
    }
}

/// `printResourceClaim`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let status = subject.status();
    let state = match (subject.deleting(), status.has("allocation"), !status.list("reservedFor").is_empty()) {
        (false, false, _) => "pending",
        (true, false, _) => "deleted",
        (false, true, false) => "allocated",
        (false, true, true) => "allocated,reserved",
        (true, true, false) => "deleted,allocated",
        (true, true, true) => "deleted,allocated,reserved",
    };
    cells![subject.name(), state, subject.age()]
}
