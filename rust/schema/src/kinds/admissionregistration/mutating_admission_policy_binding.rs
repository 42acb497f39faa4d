//! Bindings of mutating admission policies
//! (`pkg/registry/admissionregistration/mutatingadmissionpolicybinding/strategy.go`).

use super::binding;
use crate::kind::{GenerationRule, MetadataCheck, Strategy};
use hydrofoil_types::read::Write;

pub(crate) static STRATEGY: Strategy = Strategy { ..V1 };

/// Version 1alpha1, which has a default action.
pub(crate) static V1ALPHA1: Strategy = Strategy {
    default: |_, object, _| {
        binding::default(object);
        object.within("spec", |s| s.within("paramRef", |p| p.unset("parameterNotFoundAction", "Deny")));
    },
    ..V1
};

const V1: Strategy = Strategy {
    allow_unconditional_update: false,
    generation: GenerationRule::of_spec("admissionregistration.MutatingAdmissionPolicyBindingSpec"),
    default: |_, object, _| binding::default(object),
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[],
    kube_finalizers: false,
    validate: |_, object, causes| binding::validate(object, true, causes),
    row: Some(binding::row),
    ..Strategy::DEFAULT
};
