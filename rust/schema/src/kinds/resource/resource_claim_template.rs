//! Resource claim templates (`pkg/registry/resource/resourceclaimtemplate/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::device_claim;
use crate::kind::{Conversion, MetadataCheck, Request, Strategy};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::Release;
use hydrofoil_rules::meta;
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy { ..V1 };

/// The versions whose requests and devices are like those of version 1.
const V1: Strategy = Strategy {
    returns_deleted_object: true,
    drop_disabled,
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    validate: |_, object, causes| validate(object, causes),
    validate_update,
    row: Some(hydrofoil_rules::table::text::name_and_age),
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
    up: |object| object.within("spec", |outer| outer.within("spec", device_claim::convert::up)),
    down: |object| object.within("spec", |outer| outer.within("spec", device_claim::convert::down)),
};

const SPEC: Path<'static> = Path::new("spec");

fn default(version: &str, object: &mut Value) {
    object.within("spec", |spec| spec.within("spec", |spec| device_claim::default::default(version, spec)));
}

/// `dropDisabledFields`.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    let old = old.map_or(&Value::Null, |o| o.field("spec").field("spec"));
    object.within("spec", |outer| outer.within("spec", |spec| device_claim::gates::drop_disabled(release, spec, old)));
}

/// `ValidateResourceClaimTemplate`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    meta::template(spec.field("metadata"), &SPEC.child("metadata"), causes);
    let at = SPEC.child("spec");
    device_claim::validate::devices(spec.field("spec").field("devices"), &at.child("devices"), causes);
}

/// `ValidateResourceClaimTemplateUpdate`.
fn validate_update(_req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    validate(object, causes);
    causes.immutable_internal(&SPEC, "resource.ResourceClaimTemplateSpec", object.field("spec"), old.field("spec"));
}
