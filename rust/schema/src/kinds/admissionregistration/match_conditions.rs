//! Match conditions of webhooks and policies.

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use super::expression::{About, Compiler};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::label;
use hydrofoil_types::read::Read;

/// `validateMatchConditions`, which may name parameters or not.
pub(super) fn validate(list: &[Value], params: bool, path: &Path<'_>, causes: &mut Causes) {
    if list.len() > 64 {
        causes.too_many(path, list.len(), 64);
    }
    let duplicates = Duplicates::of(list, |v| v.text("name"));
    for (i, condition) in list.iter().enumerate() {
        let at = path.index(i);
        match condition.text("expression").trim() {
            "" => causes.need(&at.child("expression")),
            text => Compiler::plain(params).check(text, About::Authorizer, &["bool"], &at.child("expression"), causes),
        }
        let own = condition.text("name");
        if own.is_empty() {
            causes.need(&at.child("name"));
        } else {
            causes.format(&at.child("name"), own, label::key);
            if duplicates.is_repeat(i) {
                causes.duplicate_str(&at.child("name"), own);
            }
        }
    }
}
