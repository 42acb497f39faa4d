//! Approval of definitions in groups of the community.

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_rules::format::url;
use hydrofoil_types::read::Read;

const APPROVED: &str = "api-approved.kubernetes.io";

/// `validateAPIApproval`: groups of the community need an annotation of approval.
pub(super) fn validate(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    const MUST: &str = "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
    const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";
    let group = object.field("spec").text("group");
    let protected =
        [".k8s.io", ".kubernetes.io"].iter().any(|s| group.ends_with(s)) || matches!(group, "k8s.io" | "kubernetes.io");
    if !protected {
        return;
    }
    let state = |v: &Value| v.field("metadata").field("annotations").text(APPROVED).to_owned();
    let text = state(object);
    let kind = |t: &str| -> u8 {
        if t.is_empty() {
            0
        } else if t.starts_with("unapproved") {
            1
        } else {
            let good = url::parse(t).is_ok_and(|u| !u.scheme.is_empty() && !u.host.is_empty());
            if good { 2 } else { 3 }
        }
    };
    if old.is_some_and(|o| kind(&state(o)) == kind(&text)) {
        return;
    }
    let metadata = Path::new("metadata");
    let at = metadata.child("annotations");
    match kind(&text) {
        0 => causes.required(&at.key(APPROVED), &format!("{MUST}, {SEE}")),
        3 => {
            let detail = format!("{MUST} with either a URL or a reason starting with \"unapproved\", {SEE}");
            causes.invalid_str(&at.key(APPROVED), &text, &detail);
        }
        _ => {}
    }
}
