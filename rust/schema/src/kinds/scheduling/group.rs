//! The rules that pod groups and their templates in workloads share, as their types declare them
//! (`pkg/apis/scheduling/v1alpha2/zz_generated.validations.go`).

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::format::{Format, name};
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

/// The fields behind gates.
pub(super) const GATED: [(&str, Gate); 5] = [
    ("schedulingConstraints", Gate::TopologyAwareWorkloadScheduling),
    ("resourceClaims", Gate::DRAWorkloadResourceClaims),
    ("disruptionMode", Gate::WorkloadAwarePreemption),
    ("priorityClassName", Gate::WorkloadAwarePreemption),
    ("priority", Gate::WorkloadAwarePreemption),
];

/// Drop the fields behind gates that the old group does not use (`dropDisabled...Field`).
pub(super) fn drop_disabled(release: Release, group: &mut Value, old: &Value) {
    for (key, _) in GATED.into_iter().filter(|(_, gate)| !release.enabled(*gate)) {
        let used = match key {
            "resourceClaims" => !old.list(key).is_empty(),
            "priorityClassName" => !old.zero(key),
            _ => old.has(key),
        };
        if !used {
            group.drop(key);
        }
    }
}

/// `Validate_PodGroupSchedulingPolicy`.
pub(super) fn policy(policy: &Value, at: &Path<'_>, causes: &mut Causes) {
    match (policy.has("basic"), policy.opt("gang")) {
        (true, Some(_)) => {
            let detail = "must specify exactly one of: `basic`, `gang`";
            causes.invalid_str(at, "{basic, gang}", detail);
        }
        (false, None) => causes.invalid_str(at, "", "must specify one of: `basic`, `gang`"),
        _ => {}
    }
    let Some(gang) = policy.opt("gang") else { return };
    let (gang_at, least) = (at.child("gang"), gang.int("minCount"));
    if least == 0 {
        causes.need(&gang_at.child("minCount"));
    } else if least < 1 {
        causes.invalid_int(&gang_at.child("minCount"), least, "must be greater than or equal to 1");
    }
}

/// Refuse a changed field that is immutable (`validate.Immutable`), and report whether it is unchanged.
pub(super) fn kept(shape: &str, now: &Value, old: &Value, at: &Path<'_>, causes: &mut Causes) -> bool {
    let same = hydrofoil_internal::same(shape, now, old);
    if !same {
        causes.invalid(at, &Value::Null, IMMUTABLE);
    }
    same
}

/// Validate a text that is required (`validate.RequiredValue`) and has a format.
pub(super) fn required_value(of: &Value, key: &'static str, format: Format, at: &Path<'_>, causes: &mut Causes) {
    match of.text(key) {
        "" => causes.need(&at.child(key)),
        text => causes.format(&at.child(key), text, format),
    }
}

/// Add `Duplicate value` for each item of a list that has the name of an earlier one (`validate.Unique`).
pub(super) fn unique(list: &[Value], shape: &str, at: &Path<'_>, causes: &mut Causes) {
    let duplicates = Duplicates::of(list, |v| v.text("name"));
    for (i, item) in list.iter().enumerate().filter(|(i, _)| duplicates.is_repeat(*i)) {
        causes.duplicate_internal(&at.index(i), shape, item);
    }
}

/// Validate the name of a claim, which may be absent but not empty.
pub(super) fn claim_name(claim: &Value, key: &'static str, at: &Path<'_>, causes: &mut Causes) {
    if let Some(own) = claim.opt(key) {
        causes.format(&at.child(key), own.as_str().unwrap_or(""), name::long);
    }
}
