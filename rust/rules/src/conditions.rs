//! Conditions of a status (`metav1.Condition`).

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use crate::check::Check;
use crate::format::label;
use hydrofoil_types::read::Read;

/// `metav1validation.ValidateConditions`.
pub fn conditions(list: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let duplicates = Duplicates::of(list, |v| v.text("type"));
    for (i, condition) in list.iter().enumerate() {
        let at = path.index(i);
        let kind = condition.text("type");
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("type"), kind);
        }
        causes.format(&at.child("type"), kind, label::key);
        causes.one_of(&at.child("status"), condition.text("status"), &["False", "True", "Unknown"]);
        if condition.int("observedGeneration") < 0 {
            let detail = "must be greater than or equal to zero";
            causes.invalid_int(&at.child("observedGeneration"), condition.int("observedGeneration"), detail);
        }
        if condition.zero("lastTransitionTime") {
            causes.need(&at.child("lastTransitionTime"));
        }
        let reason = condition.text("reason");
        if reason.is_empty() {
            causes.need(&at.child("reason"));
        } else {
            causes.format(&at.child("reason"), reason, condition_reason);
            if reason.len() > 1024 {
                causes.too_long(&at.child("reason"), 1024);
            }
        }
        if condition.text("message").len() > 32 * 1024 {
            causes.too_long(&at.child("message"), 32 * 1024);
        }
    }
}

fn condition_reason(text: &str, bad: &mut dyn FnMut(&str)) {
    let b = text.as_bytes();
    let ok = b.first().is_some_and(u8::is_ascii_alphabetic)
        && b.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b',' | b':'))
        && b.last().is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_');
    if !ok {
        bad(
            "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
        );
    }
}
