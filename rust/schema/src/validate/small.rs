//! Kinds of one or two rules: leases, priority classes, runtime classes, disruption budgets.

use hydrofoil_types::{Again, Causes, Map, Path, Value, Whole};

use super::check::{Check, IMMUTABLE};
use super::format::{label, name};
use super::workload::{at_most_all, count_or_percent, counts};
use super::{meta, pod, resource, selector};
use crate::read::Read;

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateLease`.
pub(crate) fn lease(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    if let Some(seconds) = spec.oi("leaseDurationSeconds").filter(|s| *s <= 0) {
        causes.invalid_int(&SPEC.child("leaseDurationSeconds"), seconds, "must be greater than 0");
    }
    counts(spec, &["leaseTransitions"], &SPEC, causes);
    let at = SPEC.child("strategy");
    if let Some(strategy) = spec.opt("strategy").map(|s| s.as_str().unwrap_or(""))
        && !strategy.contains('/')
        && !matches!(strategy, "OldestEmulationVersion")
    {
        causes.unsupported(&at, strategy, &["OldestEmulationVersion"]);
    }
    if !spec.zero("preferredHolder") && !spec.has("strategy") {
        let detail = "preferredHolder must not be set if strategy is unset";
        causes.forbidden(&SPEC.child("preferredHolder"), detail);
    }
}

/// `ValidatePriorityClass`.
pub(crate) fn priority_class(object: &Value, causes: &mut Causes) {
    const HIGHEST: i64 = 1_000_000_000;
    let own = object.sub("metadata").s("name");
    if own.starts_with("system-") {
        let known = matches!(
            (own, object.i("value"), object.b("globalDefault")),
            ("system-node-critical", 2_000_001_000, false) | ("system-cluster-critical", 2_000_000_000, false)
        );
        if !known {
            let meta = Path::new("metadata");
            let detail = "priority class names with 'system-' prefix are reserved for system use only. error: it is not a system priority class";
            let detail = match own {
                "system-node-critical" | "system-cluster-critical" => format!(
                    "priority class names with 'system-' prefix are reserved for system use only. error: value of {own} PriorityClass must be {}",
                    if own == "system-node-critical" { 2_000_001_000 } else { 2_000_000_000 }
                ),
                _ => detail.replace("it is not", &format!("{own} is not")).replace("a system", "a known system"),
            };
            causes.forbidden(&meta.child("name"), &detail);
        }
    } else if object.i("value") > HIGHEST {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        causes.forbidden(&Path::new("value"), &detail);
    }
    if let Some(policy) = object.opt("preemptionPolicy") {
        let at = Path::new("preemptionPolicy");
        causes.one_of_required(&at, policy.as_str().unwrap_or(""), &["PreemptLowerPriority", "Never"]);
    }
}

pub(crate) fn priority_class_update(object: &Value, old: &Value, causes: &mut Causes) {
    if object.i("value") != old.i("value") {
        causes.forbidden(&Path::new("value"), "may not be changed in an update.");
    }
    if object.s("preemptionPolicy") != old.s("preemptionPolicy") {
        causes.invalid(&Path::new("preemptionPolicy"), object.sub("preemptionPolicy"), IMMUTABLE);
    }
}

/// `ValidateRuntimeClass`.
pub(crate) fn runtime_class(object: &Value, causes: &mut Causes) {
    let (at, handler) = (Path::new("handler"), object.s("handler"));
    if handler.is_empty() {
        causes.need(&at);
    } else {
        causes.format(&at, handler, name::label);
    }
    if let Some(overhead) = object.sub("overhead").opt("podFixed") {
        let holder = Map::from_unique(vec![("limits".into(), overhead.clone())]);
        resource::requirements(&holder.into(), &resource::Claims::default(), false, &Path::new("overhead"), causes);
    }
    let scheduling = object.sub("scheduling");
    let path = Path::new("scheduling");
    meta::labels(scheduling.get("nodeSelector"), &path.child("nodeSelector"), causes);
    let at = path.child("tolerations");
    let list = scheduling.list("tolerations");
    let again = Again::of(list, Whole);
    for (i, toleration) in list.iter().enumerate() {
        let at = path.child("tolerations");
        if again.at(i) {
            let shown = Map::from_unique(vec![
                ("Key".into(), Value::from(toleration.s("key"))),
                ("Operator".into(), Value::from(toleration.s("operator"))),
                ("Value".into(), Value::from(toleration.s("value"))),
                ("Effect".into(), Value::from(toleration.s("effect"))),
                ("TolerationSeconds".into(), toleration.sub("tolerationSeconds").clone()),
            ]);
            causes.duplicate(&at.index(i), &shown.into());
        }
    }
    pod::tolerations(list, &at, causes);
}

pub(crate) fn runtime_class_update(object: &Value, old: &Value, causes: &mut Causes) {
    runtime_class(object, causes);
    if object.s("handler") != old.s("handler") {
        causes.invalid_str(&Path::new("handler"), object.s("handler"), IMMUTABLE);
    }
}

/// `ValidatePodDisruptionBudgetSpec`.
pub(crate) fn budget(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    if spec.has("minAvailable") && spec.has("maxUnavailable") {
        let shown = Map::from_unique(vec![
            ("MinAvailable".into(), spec.sub("minAvailable").clone()),
            ("Selector".into(), spec.sub("selector").clone()),
            ("MaxUnavailable".into(), spec.sub("maxUnavailable").clone()),
            ("UnhealthyPodEvictionPolicy".into(), spec.sub("unhealthyPodEvictionPolicy").clone()),
        ]);
        causes.invalid(&SPEC, &shown.into(), "minAvailable and maxUnavailable cannot be both set");
    }
    for key in ["minAvailable", "maxUnavailable"] {
        if let Some(value) = spec.opt(key) {
            count_or_percent(value, &SPEC.child(key), causes);
            at_most_all(value, &SPEC.child(key), causes);
        }
    }
    selector::label_selector(spec.sub("selector"), &SPEC.child("selector"), causes);
    if let Some(policy) = spec.opt("unhealthyPodEvictionPolicy") {
        let at = SPEC.child("unhealthyPodEvictionPolicy");
        causes.one_of(&at, policy.as_str().unwrap_or(""), &["AlwaysAllow", "IfHealthyBudget"]);
    }
}

/// `ValidatePodDisruptionBudgetStatusUpdate`.
pub(crate) fn budget_status(object: &Value, causes: &mut Causes) {
    let path = Path::new("status");
    let status = object.sub("status");
    conditions(status.list("conditions"), &path.child("conditions"), causes);
    counts(status, &["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"], &path, causes);
}

/// `metav1validation.ValidateConditions`.
pub(crate) fn conditions(list: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let again = Again::of(list, |v| v.s("type"));
    for (i, condition) in list.iter().enumerate() {
        let at = path.index(i);
        let kind = condition.s("type");
        if again.at(i) {
            causes.duplicate_str(&at.child("type"), kind);
        }
        causes.format(&at.child("type"), kind, label::key);
        causes.one_of(&at.child("status"), condition.s("status"), &["False", "True", "Unknown"]);
        if condition.i("observedGeneration") < 0 {
            let detail = "must be greater than or equal to zero";
            causes.invalid_int(&at.child("observedGeneration"), condition.i("observedGeneration"), detail);
        }
        if condition.zero("lastTransitionTime") {
            causes.need(&at.child("lastTransitionTime"));
        }
        let reason = condition.s("reason");
        if reason.is_empty() {
            causes.need(&at.child("reason"));
        } else {
            causes.format(&at.child("reason"), reason, condition_reason);
            if reason.len() > 1024 {
                causes.too_long(&at.child("reason"), 1024);
            }
        }
        if condition.s("message").len() > 32 * 1024 {
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
