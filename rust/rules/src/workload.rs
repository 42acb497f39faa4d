//! Rules shared by workloads: selectors of templates, counts and percentages.

use hydrofoil_types::{CauseReason, Causes, Path, Value};

use super::check::Check;
use super::format::text;
use super::selector;
use crate::hostname;
use crate::pod_template::{self, gates};
use crate::{Gate, Release};
use hydrofoil_internal::{self as internal, InternalCauses};
use hydrofoil_types::read::{Read, Write};

const SELECTOR: &str = "*meta.LabelSelector";

/// Report whether a valid label selector selects labels; an absent one selects nothing.
pub fn matches(selector: &Value, labels: &Value) -> bool {
    if matches!(selector, Value::Null) {
        return false;
    }
    selector.entries("matchLabels").all(|(k, v)| labels.get(k) == Some(v))
        && selector.list("matchExpressions").iter().all(|r| {
            let value = labels.get(r.text("key"));
            match r.text("operator") {
                "In" => value.is_some_and(|v| r.list("values").contains(v)),
                "NotIn" => value.is_none_or(|v| !r.list("values").contains(v)),
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}

/// Report whether a label selector selects everything.
pub fn is_empty(selector: &Value) -> bool {
    selector.zero("matchLabels") && selector.zero("matchExpressions")
}

/// The messages of a kind for its selector.
pub struct Words {
    /// The detail of an empty selector.
    pub empty: &'static str,
    /// The detail of a malformed one, if there is one.
    pub invalid: &'static str,
    /// The kind in the error of a restart policy.
    pub noun: &'static str,
}

/// Validate the selector and the template of a spec, as most workloads do.
pub fn selected_template(release: Release, spec: &Value, words: &Words, path: &Path<'_>, causes: &mut Causes) {
    if selector(spec, words, path, causes) {
        let at = path.child("template");
        check_selected(spec.field("template"), spec.field("selector"), &at, causes);
        pod_template::validate::template(release, spec.field("template"), &at, causes);
        always(spec.field("template"), words.noun, &at, causes);
    }
}

/// Validate the selector of a spec; return false when it is malformed.
pub fn selector(spec: &Value, words: &Words, path: &Path<'_>, causes: &mut Causes) -> bool {
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

/// Validate that a template has the labels that its selector asks for.
pub fn check_selected(template: &Value, selector: &Value, path: &Path<'_>, causes: &mut Causes) {
    let labels = template.field("metadata").field("labels");
    let open = !matches!(selector, Value::Null) && is_empty(selector);
    if !open && !matches(selector, labels) {
        mismatch(labels, path, causes);
    }
}

/// Add that a selector does not match the labels of a template.
pub fn mismatch(labels: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("metadata");
    causes.invalid(&at.child("labels"), labels, "`selector` does not match template `labels`");
}

/// Refuse templates whose pods would end.
pub fn always(template: &Value, noun: &str, path: &Path<'_>, causes: &mut Causes) {
    let spec = template.field("spec");
    let at = path.child("spec");
    if spec.text("restartPolicy") != "Always" {
        causes.unsupported(&at.child("restartPolicy"), spec.text("restartPolicy"), &["Always"]);
    }
    if spec.has("activeDeadlineSeconds") {
        let detail = format!("activeDeadlineSeconds in {noun} is not Supported");
        causes.forbidden(&at.child("activeDeadlineSeconds"), &detail);
    }
}

/// Refuse negative counts among those that are set.
pub fn counts(holder: &Value, keys: &[&str], path: &Path<'_>, causes: &mut Causes) {
    for key in keys {
        if let Some(number) = holder.opt_int(key) {
            causes.not_negative(&path.child(key), number);
        }
    }
}

/// `ValidatePositiveIntOrPercent`.
pub fn count_or_percent(value: &Value, path: &Path<'_>, causes: &mut Causes) {
    match value {
        Value::Str(s) => causes.format(path, s, text::percent),
        Value::Int(n) => causes.not_negative(path, *n),
        _ => {}
    }
}

/// Return the number, or that of a percentage.
pub fn plain_number(value: &Value) -> i64 {
    match value {
        Value::Str(s) => text::percent_value(s).or_else(|| s.parse().ok()).unwrap_or(0),
        Value::Int(n) => *n,
        _ => 0,
    }
}

/// `IsNotMoreThan100Percent`.
pub fn at_most_all(value: &Value, path: &Path<'_>, causes: &mut Causes) {
    if value.as_str().and_then(text::percent_value).is_some_and(|p| p > 100) {
        causes.invalid(path, value, "must not be greater than 100%");
    }
}

/// Validate that a selector does not change.
pub fn same_selector(new: &Value, old: &Value, path: &Path<'_>, causes: &mut Causes) {
    causes.immutable_internal(&path.child("selector"), SELECTOR, new.field("selector"), old.field("selector"));
}

/// Set absent amounts to 0, as both are plain values in the internal type.
pub fn default_amounts(strategy: &mut Value) {
    strategy.within("rollingUpdate", |rolling| {
        rolling.unset("maxUnavailable", 0);
        rolling.unset("maxSurge", 0);
    });
}

/// Set the defaults of the template, which is not a pointer, even when it was absent.
pub fn default_template(spec: &mut Value) {
    pod_template::default::spec(spec.make("template").make("spec"));
}

/// Drop the disabled fields of the template of a workload.
pub fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    object.within("spec", |s| gates::template(release, s, old.map(|o| o.field("spec"))));
}

/// Drop the disabled fields of a replica set or deployment.
pub fn drop_disabled_replicas(release: Release, object: &mut Value, old: Option<&Value>) {
    drop_disabled(release, object, old);
    let in_use = || old.is_some_and(|o| o.field("status").has("terminatingReplicas"));
    if !release.enabled(Gate::DeploymentReplicaSetTerminatingReplicas) && !in_use() {
        object.within("status", |s| s.drop("terminatingReplicas"));
    }
}

/// Add that the type of a strategy is unknown, with the whole strategy shown.
pub fn unsupported_strategy(shape: &str, strategy: &Value, known: &str, path: &Path<'_>, causes: &mut Causes) {
    let message = format!("Unsupported value: {}: supported values: {known}", internal::json(shape, strategy));
    causes.push(path, CauseReason::NotSupported, message);
}

/// Report whether an update made a new generation.
pub fn has_new_generation(object: &Value, old: &Value) -> bool {
    object.field("metadata").int("generation") != old.field("metadata").int("generation")
}

/// Warn of the template of a workload.
pub fn warn(object: &Value, out: &mut Vec<String>) {
    let path = Path::new("spec");
    pod_template::warn::warnings(object.field("spec").field("template"), &path.child("template"), true, out);
}

/// Warn of a workload whose pods are named after it.
pub fn warn_named(object: &Value, out: &mut Vec<String>) {
    hostname::warn(object, "Pod names and hostnames", out);
    warn(object, out);
}

/// Warn of the template again on an update that made a new generation.
pub fn warn_update(object: &Value, old: &Value, out: &mut Vec<String>) {
    if has_new_generation(object, old) {
        warn(object, out);
    }
}
