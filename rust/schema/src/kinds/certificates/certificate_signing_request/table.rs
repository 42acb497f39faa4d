//! Rows of signing requests.

use hydrofoil_types::Value;

use hydrofoil_rules::table::{Subject, age, cells, text};
use hydrofoil_types::read::Read;

/// `printCertificateSigningRequest`.
pub(super) fn row(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    cells![
        subject.name(),
        subject.age(),
        text::or(spec.text("signerName"), "<none>"),
        spec.text("username"),
        spec.opt_int("expirationSeconds").map_or_else(|| "<none>".to_owned(), age::human),
        state(subject.status()),
    ]
}

/// `extractCSRStatus`: a condition only has to be present, and denial takes precedence over approval.
fn state(status: &Value) -> String {
    let has = |kind: &str| text::condition(status, kind).is_some();
    let mut state = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    }
    .to_owned();
    if has("Failed") {
        state.push_str(",Failed");
    }
    if !status.text("certificate").is_empty() {
        state.push_str(",Issued");
    }
    state
}
