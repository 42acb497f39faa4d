//! Bindings of mutating admission policies
//! (`pkg/registry/admissionregistration/mutatingadmissionpolicybinding/strategy.go`).

use super::binding;
use crate::kind::{GenerationRule, MetadataCheck, Strategy};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    generation: GenerationRule::of_spec("admissionregistration.MutatingAdmissionPolicyBindingSpec"),
    default: |object, _| binding::default(object),
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[],
    kube_finalizers: false,
    validate: |_, object, causes| binding::validate(object, true, causes),
    row: Some(binding::row),
    ..Strategy::DEFAULT
};
