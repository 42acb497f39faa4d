//! What workloads share: selectors of templates, counts and percentages.

use hydrofoil_types::{CauseReason, Causes, Path, Value};

use super::check::Check;
use super::format::text;
use super::{pod, selector};
use crate::internal::{self, InternalCauses};
use crate::read::Read;

const SELECTOR: &str = "*meta.LabelSelector";

/// Whether a label selector, taken to be right, selects labels; an absent one selects nothing.
pub(crate) fn matches(selector: &Value, labels: &Value) -> bool {
    if matches!(selector, Value::Null) {
        return false;
    }
    selector.entries("matchLabels").all(|(k, v)| labels.get(k) == Some(v))
        && selector.list("matchExpressions").iter().all(|r| {
            let value = labels.get(r.s("key"));
            match r.s("operator") {
                "In" => value.is_some_and(|v| r.list("values").contains(v)),
                "NotIn" => value.is_none_or(|v| !r.list("values").contains(v)),
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}

pub(crate) fn is_empty(selector: &Value) -> bool {
    selector.zero("matchLabels") && selector.zero("matchExpressions")
}

/// What a kind says of its selector.
pub(crate) struct Words {
    pub empty: &'static str,
    pub invalid: &'static str,
    pub noun: &'static str,
}

/// The selector and the template of a spec, as most workloads check them.
pub(crate) fn selected_template(spec: &Value, words: &Words, path: &Path<'_>, causes: &mut Causes) {
    if selector(spec, words, path, causes) {
        let at = path.child("template");
        selected(spec.sub("template"), spec.sub("selector"), &at, causes);
        pod::template(spec.sub("template"), &at, causes);
        always(spec.sub("template"), words.noun, &at, causes);
    }
}

/// The selector of a spec; false when it is no selector at all.
pub(crate) fn selector(spec: &Value, words: &Words, path: &Path<'_>, causes: &mut Causes) -> bool {
    let at = path.child("selector");
    let before = causes.len();
    let Some(s) = spec.opt("selector") else {
        causes.need(&at);
        return true;
    };
    selector::label_selector(s, &at, causes);
    let valid = causes.len() == before;
    if is_empty(s) {
        causes.invalid_internal(&at, SELECTOR, s, words.empty);
    }
    if !valid {
        let detail = if words.invalid.is_empty() { String::new() } else { format!(": {}", words.invalid) };
        let message = format!("Invalid value: {}{detail}", internal::json(SELECTOR, s));
        causes.push(&at, CauseReason::Invalid, message);
    }
    valid
}

/// A template has the labels that its selector asks for.
pub(crate) fn selected(template: &Value, selector: &Value, path: &Path<'_>, causes: &mut Causes) {
    let labels = template.sub("metadata").sub("labels");
    let open = !matches!(selector, Value::Null) && is_empty(selector);
    if !open && !matches(selector, labels) {
        mismatch(labels, path, causes);
    }
}

pub(crate) fn mismatch(labels: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("metadata");
    causes.invalid(&at.child("labels"), labels, "`selector` does not match template `labels`");
}

pub(crate) fn always(template: &Value, noun: &str, path: &Path<'_>, causes: &mut Causes) {
    let spec = template.sub("spec");
    let at = path.child("spec");
    if spec.s("restartPolicy") != "Always" {
        causes.unsupported(&at.child("restartPolicy"), spec.s("restartPolicy"), &["Always"]);
    }
    if spec.has("activeDeadlineSeconds") {
        let detail = format!("activeDeadlineSeconds in {noun} is not Supported");
        causes.forbidden(&at.child("activeDeadlineSeconds"), &detail);
    }
}

/// Counts that are set may not be negative.
pub(crate) fn counts(holder: &Value, keys: &[&str], path: &Path<'_>, causes: &mut Causes) {
    for key in keys {
        if let Some(number) = holder.oi(key) {
            causes.not_negative(&path.child(key), number);
        }
    }
}

/// `ValidatePositiveIntOrPercent`.
pub(crate) fn count_or_percent(value: &Value, path: &Path<'_>, causes: &mut Causes) {
    match value {
        Value::Str(s) => causes.format(path, s, text::percent),
        Value::Int(n) => causes.not_negative(path, *n),
        _ => {}
    }
}

/// The number, or that of a percentage.
pub(crate) fn plain_number(value: &Value) -> i64 {
    match value {
        Value::Str(s) => text::percent_value(s).or_else(|| s.parse().ok()).unwrap_or(0),
        Value::Int(n) => *n,
        _ => 0,
    }
}

/// `IsNotMoreThan100Percent`.
pub(crate) fn at_most_all(value: &Value, path: &Path<'_>, causes: &mut Causes) {
    if value.as_str().and_then(text::percent_value).is_some_and(|p| p > 100) {
        causes.invalid(path, value, "must not be greater than 100%");
    }
}

/// A selector may not change.
pub(crate) fn same_selector(new: &Value, old: &Value, path: &Path<'_>, causes: &mut Causes) {
    causes.immutable_internal(&path.child("selector"), SELECTOR, new.sub("selector"), old.sub("selector"));
}
