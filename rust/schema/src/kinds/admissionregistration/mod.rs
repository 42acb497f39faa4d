//! Kinds of the group `admissionregistration.k8s.io`.

mod binding;
mod expression;
mod match_conditions;
mod match_resources;
mod mutating_admission_policy;
mod mutating_admission_policy_binding;
mod mutating_webhook_configuration;
mod policy;
mod rule;
mod validating_admission_policy;
mod validating_admission_policy_binding;
mod validating_webhook_configuration;
mod webhook;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group in one of its versions.
pub(super) fn of(version: &str, kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "MutatingAdmissionPolicy" => &mutating_admission_policy::STRATEGY,
        "MutatingAdmissionPolicyBinding" if version == "v1alpha1" => &mutating_admission_policy_binding::V1ALPHA1,
        "MutatingAdmissionPolicyBinding" => &mutating_admission_policy_binding::STRATEGY,
        "MutatingWebhookConfiguration" => &mutating_webhook_configuration::STRATEGY,
        "ValidatingAdmissionPolicy" => &validating_admission_policy::STRATEGY,
        "ValidatingAdmissionPolicyBinding" => &validating_admission_policy_binding::STRATEGY,
        "ValidatingWebhookConfiguration" => &validating_webhook_configuration::STRATEGY,
        _ => return None,
    })
}
