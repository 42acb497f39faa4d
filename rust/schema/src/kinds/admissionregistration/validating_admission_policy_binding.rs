//! Bindings of validating admission policies
//! (`pkg/registry/admissionregistration/validatingadmissionpolicybinding/strategy.go`).

use hydrofoil_types::{Causes, Duplicates, Path, Value, Whole};

use super::binding;
use crate::kind::{GenerationRule, MetadataCheck, Strategy};
use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    generation: GenerationRule::of_spec("admissionregistration.ValidatingAdmissionPolicyBindingSpec"),
    default: |_, object, _| binding::default(object),
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[],
    kube_finalizers: false,
    validate: |_, object, causes| {
        binding::validate(object, false, causes);
        actions(object.field("spec"), causes);
    },
    row: Some(binding::row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

/// Validate the actions on a refusal.
fn actions(spec: &Value, causes: &mut Causes) {
    let at = SPEC.child("validationActions");
    let list = spec.list("validationActions");
    if list.is_empty() {
        causes.required(&at, "at least one validation action is required");
    }
    let duplicates = Duplicates::of(list, Whole);
    for (i, action) in list.iter().enumerate() {
        let text = action.as_str().unwrap_or("");
        causes.one_of(&at.index(i), text, &["Audit", "Deny", "Warn"]);
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.index(i), text);
        }
    }
    if ["Deny", "Warn"].iter().all(|a| list.iter().any(|v| v.as_str() == Some(a))) {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        causes.invalid(&at, spec.field("validationActions"), detail);
    }
}
