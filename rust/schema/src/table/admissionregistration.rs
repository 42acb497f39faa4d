//! Admission webhooks and policies.

use hydrofoil_types::Value;

use super::selector;
use super::subject::Subject;
use crate::read::Read;

/// `printMutatingWebhook` and `printValidatingWebhook`.
pub(super) fn webhooks(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), of.object.list("webhooks").len() as i64, of.age()]
}

/// `printMutatingAdmissionPolicy`.
pub(super) fn mutating_policy(of: &Subject<'_>) -> Vec<Value> {
    policy(of, "mutations")
}

/// `printValidatingAdmissionPolicy`.
pub(super) fn validating_policy(of: &Subject<'_>) -> Vec<Value> {
    policy(of, "validations")
}

fn policy(of: &Subject<'_>, parts: &str) -> Vec<Value> {
    let kind = of
        .spec()
        .opt("paramKind")
        .map_or_else(|| "<unset>".to_owned(), |k| format!("{}/{}", k.s("apiVersion"), k.s("kind")));
    cells![of.name(), of.spec().list(parts).len() as i64, kind, of.age()]
}

/// `printMutatingAdmissionPolicyBinding` and `printValidatingAdmissionPolicyBinding`.
pub(super) fn binding(of: &Subject<'_>) -> Vec<Value> {
    let reference = of.spec().sub("paramRef");
    let params = match (reference.s("name"), reference.s("namespace"), reference.opt("selector")) {
        ("", _, Some(selector)) => selector::go_text(selector),
        ("", _, None) => "<unset>".to_owned(),
        // Whether the parameters live in namespaces is not known here.
        (name, "", _) => format!("*/{name}"),
        (name, namespace, _) => format!("{namespace}/{name}"),
    };
    cells![of.name(), of.spec().s("policyName"), params, of.age()]
}
