//! Tolerations, spread, gates and resource claims.

use std::num::IntErrorKind;

use hydrofoil_text::quoted;
use hydrofoil_types::{Causes, Duplicates, Lookup, Path, Value};

use super::affinity;
use super::annotations::MIRROR;
use crate::check::{Check, NAMELESS};
use crate::format::{label, name};
use crate::selector;
use crate::{Gate, Release};
use hydrofoil_internal::InternalCauses;
use hydrofoil_types::read::Read;

/// `validateTaintEffect`.
pub fn taint_effect(effect: &str, allow_empty: bool, path: &Path<'_>, causes: &mut Causes) {
    if !allow_empty && effect.is_empty() {
        return causes.need(path);
    }
    causes.one_of(path, effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
}

/// `ValidateTolerations`.
pub fn tolerations(compares: bool, list: &[Value], path: &Path<'_>, causes: &mut Causes) {
    for (i, toleration) in list.iter().enumerate() {
        let at = path.index(i);
        let (key, operator, value, effect) =
            (toleration.text("key"), toleration.text("operator"), toleration.text("value"), toleration.text("effect"));
        if !key.is_empty() {
            causes.format(&at.child("key"), key, label::key);
        }
        if key.is_empty() && operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            causes.invalid_str(&at.child("operator"), operator, detail);
        }
        if toleration.has("tolerationSeconds") && effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            causes.invalid_str(&at.child("effect"), effect, detail);
        }
        match operator {
            "Equal" | "" => {
                let mut wrong: Vec<String> = Vec::new();
                label::value(value, &mut |detail| wrong.push(detail.to_owned()));
                if !wrong.is_empty() {
                    causes.invalid_str(&at.child("operator"), value, &wrong.join(";"));
                }
            }
            "Exists" => {
                if !value.is_empty() {
                    causes.invalid_str(&at.child("operator"), value, "value must be empty when `operator` is 'Exists'");
                }
            }
            "Lt" | "Gt" if compares => number(value, &at.child("value"), causes),
            "Lt" | "Gt" => causes.unsupported(&at.child("operator"), operator, &["Equal", "Exists", "Lt", "Gt"]),
            other => causes.unsupported(&at.child("operator"), other, &["Equal", "Exists"]),
        }
        if !effect.is_empty() {
            taint_effect(effect, true, &at.child("effect"), causes);
        }
    }
}

/// Report whether tolerations may compare numbers.
pub fn compares(release: Release) -> bool {
    release.enabled(Gate::TaintTolerationComparisonOperators)
}

/// Validate the number that a taint is compared with (`content.IsDecimalInteger`, `strconv.ParseInt`).
fn number(value: &str, at: &Path<'_>, causes: &mut Causes) {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let canonical = value == "0" || !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    if value.is_empty() {
        causes.invalid_str(at, value, "must be non-empty");
    } else if digits.is_empty() || !canonical {
        causes.invalid_str(at, value, "must be a valid decimal integer in canonical form");
    }
    if let Err(error) = value.parse::<i64>() {
        let why = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        causes.invalid_str(at, value, &format!("strconv.ParseInt: parsing {}: {why}", quoted(value)));
    }
}

/// Validate readiness and scheduling gates.
pub fn gates(pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("readinessGates");
    for (i, gate) in pod.list("readinessGates").iter().enumerate() {
        causes.format(&at.index(i).child("conditionType"), gate.text("conditionType"), label::key);
    }
    let at = path.child("schedulingGates");
    let gates = pod.list("schedulingGates");
    let duplicates = Duplicates::of(gates, |v| v.text("name"));
    for (i, gate) in gates.iter().enumerate() {
        let name = gate.text("name");
        causes.format(&at.index(i), name, label::key);
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.index(i), name);
        }
    }
}

/// `validateTopologySpreadConstraints`.
pub fn spread(release: Release, list: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let pairs = Lookup::of(list, |c| (c.text("topologyKey"), c.text("whenUnsatisfiable")));
    for (i, constraint) in list.iter().enumerate() {
        let at = path.index(i);
        let (key, action) = (constraint.text("topologyKey"), constraint.text("whenUnsatisfiable"));
        if constraint.int("maxSkew") <= 0 {
            causes.invalid_int(&at.child("maxSkew"), constraint.int("maxSkew"), "must be greater than zero");
        }
        if key.is_empty() {
            causes.required(&at.child("topologyKey"), "can not be empty");
        }
        causes.one_of(&at.child("whenUnsatisfiable"), action, &["DoNotSchedule", "ScheduleAnyway"]);
        if pairs.last(&(key, action)).is_some_and(|last| !std::ptr::eq(last, constraint)) {
            causes.duplicate_str(&at.child("{topologyKey, whenUnsatisfiable}"), &format!("{{{key}, {action}}}"));
        }
        if let Some(domains) = constraint.opt_int("minDomains") {
            if domains <= 0 {
                causes.invalid_int(&at.child("minDomains"), domains, "must be greater than zero");
            }
            if action != "DoNotSchedule" {
                let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                causes.invalid_int(&at.child("minDomains"), domains, &detail);
            }
        }
        for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            if let Some(value) = constraint.opt(policy) {
                causes.one_of(&at.child(policy), value.as_str().unwrap_or(""), &["Honor", "Ignore"]);
            }
        }
        if release.enabled(Gate::MatchLabelKeysInPodTopologySpreadSelectorMerge) {
            affinity::label_keys(constraint, &at, causes);
        } else {
            affinity::unmerged_keys(constraint, &at.child("matchLabelKeys"), causes);
        }
        selector::label_selector(constraint.field("labelSelector"), &at.child("labelSelector"), causes);
    }
}

/// `validatePodResourceClaims`.
pub fn claims(list: &[Value], metadata: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    let duplicates = Duplicates::of(list, |v| v.text("name"));
    for (i, claim) in list.iter().enumerate() {
        if metadata.is_some_and(|m| m.field("annotations").has(MIRROR)) {
            causes.forbidden(&NAMELESS, "static pods do not support resource claims");
            continue;
        }
        let at = path.index(i);
        let own = claim.text("name");
        if own.is_empty() {
            causes.need(&at.child("name"));
        } else if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("name"), own);
        } else {
            causes.format(&at.child("name"), own, name::label);
        }
        match (claim.opt("resourceClaimName"), claim.opt("resourceClaimTemplateName")) {
            (Some(_), Some(_)) => {
                let detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
                causes.invalid_internal(&at, "core.PodResourceClaim", claim, detail);
            }
            (None, None) => {
                let detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
                causes.invalid_internal(&at, "core.PodResourceClaim", claim, detail);
            }
            _ => {}
        }
        for key in ["resourceClaimName", "resourceClaimTemplateName"] {
            if let Some(value) = claim.opt(key) {
                causes.format(&at.child(key), value.as_str().unwrap_or(""), name::subdomain);
            }
        }
    }
}
