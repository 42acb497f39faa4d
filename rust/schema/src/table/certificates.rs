//! Certificate signing requests and trust bundles.

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::or;
use super::{age, selector};
use crate::read::Read;

/// `printCertificateSigningRequest`.
pub(super) fn signing_request(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    cells![
        of.name(),
        of.age(),
        or(spec.s("signerName"), "<none>"),
        spec.s("username"),
        spec.oi("expirationSeconds").map_or_else(|| "<none>".to_owned(), age::human),
        state(of.status()),
    ]
}

/// `extractCSRStatus`: that a condition is there is enough, and denial goes before approval.
fn state(status: &Value) -> String {
    let has = |kind: &str| super::text::condition(status, kind).is_some();
    let mut state = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    }
    .to_owned();
    if has("Failed") {
        state.push_str(",Failed");
    }
    if !status.s("certificate").is_empty() {
        state.push_str(",Issued");
    }
    state
}

/// `printClusterTrustBundle`.
pub(super) fn trust_bundle(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), or(of.spec().s("signerName"), "<none>")]
}

/// `printPodCertificateRequest`.
pub(super) fn pod_request(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    let known = |c: &Value| ["Issued", "Denied", "Failed"].into_iter().find(|k| *k == c.s("type"));
    let state = of.status().list("conditions").iter().rev().find_map(known);
    cells![
        of.name(),
        spec.s("podName"),
        spec.s("serviceAccountName"),
        spec.s("nodeName"),
        spec.s("signerName"),
        state.unwrap_or("Pending"),
        selector::labels(spec, "unverifiedUserAnnotations"),
    ]
}
