//! The names of a resource.

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_rules::format::{Format, name};
use hydrofoil_types::read::Read;

/// `ValidateCustomResourceDefinitionNames`.
pub(super) fn check(names: &Value, path: &Path<'_>, causes: &mut Causes) {
    const CASE: &str = "may have mixed case, but should otherwise match: ";
    for key in ["plural", "singular"] {
        if !names.zero(key) {
            join_causes(names.text(key), name::label_1035, &path.child(key), causes);
        }
    }
    for key in ["kind", "listKind"] {
        let text = names.text(key);
        if text.is_empty() {
            continue;
        }
        let mut wrong: Vec<String> = Vec::new();
        name::label_1035(&text.to_lowercase(), &mut |detail| wrong.push(detail.to_owned()));
        if !wrong.is_empty() {
            causes.invalid_str(&path.child(key), text, &format!("{CASE}{}", wrong.join(",")));
        }
    }
    let list = |key: &str, causes: &mut Causes| {
        let at = path.child(key);
        for (i, text) in names.list(key).iter().enumerate() {
            join_causes(text.as_str().unwrap_or(""), name::label_1035, &at.index(i), causes);
        }
    };
    list("shortNames", causes);
    if !names.zero("kind") && names.text("kind") == names.text("listKind") {
        let detail = "kind and listKind may not be the same";
        causes.invalid_str(&path.child("listKind"), names.text("listKind"), detail);
    }
    list("categories", causes);
}

/// Add one cause with all errors of a text.
pub(super) fn join_causes(text: &str, format: Format, at: &Path<'_>, causes: &mut Causes) {
    let mut wrong: Vec<String> = Vec::new();
    format(text, &mut |detail| wrong.push(detail.to_owned()));
    if !wrong.is_empty() {
        causes.invalid_str(at, text, &wrong.join(","));
    }
}
