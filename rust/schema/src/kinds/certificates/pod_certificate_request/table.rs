//! Rows of pod certificate requests.

use hydrofoil_types::Value;

use hydrofoil_rules::table::{Subject, cells, selector};
use hydrofoil_types::read::Read;

/// `printPodCertificateRequest`.
pub(super) fn row(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    let known = |c: &Value| ["Issued", "Denied", "Failed"].into_iter().find(|k| *k == c.text("type"));
    let state = subject.status().list("conditions").iter().rev().find_map(known);
    cells![
        subject.name(),
        spec.text("podName"),
        spec.text("serviceAccountName"),
        spec.text("nodeName"),
        spec.text("signerName"),
        state.unwrap_or("Pending"),
        selector::labels(spec, "unverifiedUserAnnotations"),
    ]
}
