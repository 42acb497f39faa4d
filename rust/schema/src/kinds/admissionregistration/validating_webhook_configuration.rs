//! Validating webhooks (`pkg/registry/admissionregistration/validatingwebhookconfiguration/strategy.go`).

use hydrofoil_types::Value;

use super::webhook;
use crate::kind::{GenerationRule, MetadataCheck, Strategy};
use hydrofoil_types::read::Write;

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    generation: GenerationRule::of(webhook::differ),
    default: |_, object, _| default(object),
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[],
    kube_finalizers: false,
    validate: |req, object, causes| webhook::validate(object, req.old, false, causes),
    row: Some(webhook::row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    object.each("webhooks", webhook::default);
}
