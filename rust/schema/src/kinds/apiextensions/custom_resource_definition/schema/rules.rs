//! The texts of `x-kubernetes-validations`, whose expressions are compiled when the schema is known to be structural.

use hydrofoil_types::{Causes, Path, Value};

use crate::kinds::apiextensions::custom_resource_definition::field_path::find;
use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Add the causes of invalid rules but for their expressions.
pub(super) fn validate(props: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("x-kubernetes-validations");
    let lines = |t: &str| t.contains(['\n', '\r']);
    for (i, rule) in props.list("x-kubernetes-validations").iter().enumerate() {
        let at = at.index(i);
        let (text, message) = (rule.text("rule").trim(), rule.text("message"));
        if text.is_empty() {
            causes.required(&at.child("rule"), "rule is not specified");
        } else if !message.is_empty() && message.trim().is_empty() {
            causes.invalid_str(&at.child("message"), message, "must be non-empty if specified");
        } else if lines(message.trim()) {
            causes.invalid_str(&at.child("message"), message, "must not contain line breaks");
        } else if lines(text) && message.trim().is_empty() {
            causes.required(&at.child("message"), "message must be specified if rule contains line breaks");
        }
        let expression = rule.text("messageExpression");
        if !expression.is_empty() && expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            causes.required(&at.child("messageExpression"), detail);
        }
        if let Some(reason) = rule.opt("reason") {
            causes.one_of(&at.child("reason"), reason.as_str().unwrap_or(""), &REASONS);
        }
        let field = rule.text("fieldPath");
        if field.is_empty() {
            continue;
        }
        let at = at.child("fieldPath");
        if field.trim().is_empty() {
            causes.invalid_str(&at, field, "must be non-empty if specified");
        }
        if lines(field) {
            causes.invalid_str(&at, field, "must not contain line breaks");
        }
        if find(props, field, true).is_err() {
            causes.invalid_str(&at, field, "must be a valid path");
        }
    }
}
