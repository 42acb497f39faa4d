//! Pod groups (`pkg/registry/scheduling/podgroup/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::group;
use crate::kind::{Request, Strategy, reset_metadata};
use hydrofoil_internal as internal;
use hydrofoil_rules::conditions;
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");
const STATUS: Path<'static> = Path::new("status");
const MOST_CLAIMS: usize = 4;

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    status_resets_metadata: true,
    // The store of the main resource has no strategy of its own for them.
    reset_fields: |subresource| if subresource.is_empty() { Some(&[]) } else { reset_metadata(subresource) },
    default: |_, object, _| default(object),
    drop_disabled,
    validate: |_, object, causes| validate(object.field("spec"), causes),
    validate_update,
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    object.make("spec").unset("disruptionMode", "Pod");
}

/// `dropDisabledPodGroupFields` and `dropDisabledPodGroupStatusFields`.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    let old = old.map_or(&Value::Null, |o| o.field("spec"));
    object.within("spec", |spec| group::drop_disabled(release, spec, old));
    if !release.enabled(Gate::DRAWorkloadResourceClaims) && old.list("resourceClaims").is_empty() {
        object.within("status", |status| status.drop("resourceClaimStatuses"));
    }
    // Upstream drops the mode, but each object that it reads from the storage has it by default.
    default(object);
}

/// `Validate_PodGroupSpec`, without the fields behind gates, which a new group does not have.
fn validate(spec: &Value, causes: &mut Causes) {
    if let Some(reference) = spec.opt("podGroupTemplateRef") {
        template(reference, &SPEC.child("podGroupTemplateRef"), causes);
    }
    group::policy(spec.field("schedulingPolicy"), &SPEC.child("schedulingPolicy"), causes);
}

/// `Validate_PodGroupTemplateReference`.
fn template(reference: &Value, at: &Path<'_>, causes: &mut Causes) {
    let Some(workload) = reference.opt("workload") else {
        return causes.invalid_str(at, "", "must specify one of: `workload`");
    };
    let at = at.child("workload");
    group::required_value(workload, "workloadName", name::long, &at, causes);
    group::required_value(workload, "podGroupTemplateName", name::short, &at, causes);
}

/// `ValidatePodGroupUpdate` and `ValidatePodGroupStatusUpdate`, and the rules that the types declare.
fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return status(object, old, causes);
    }
    let (spec, old) = (object.field("spec"), old.field("spec"));
    let immutable = [
        ("podGroupTemplateRef", "*scheduling.PodGroupTemplateReference"),
        ("schedulingPolicy", "scheduling.PodGroupSchedulingPolicy"),
    ];
    for (key, shape) in immutable {
        group::kept(shape, spec.field(key), old.field(key), &SPEC.child(key), causes);
    }
    gated_fields(spec, old, causes);
}

/// Validate the fields behind gates, which an old group can have from a server whose gates are on.
fn gated_fields(spec: &Value, old: &Value, causes: &mut Causes) {
    for (key, _) in group::GATED {
        let (now, was, at) = (spec.field(key), old.field(key), SPEC.child(key));
        match key {
            "resourceClaims" => {
                let unchanged = group::kept("[]scheduling.PodGroupResourceClaim", now, was, &at, causes);
                let count = spec.list(key).len();
                if !unchanged && count > MOST_CLAIMS {
                    causes.too_many(&at, count, MOST_CLAIMS);
                }
            }
            "schedulingConstraints" => {
                let shape = "*scheduling.PodGroupSchedulingConstraints";
                if !internal::same(shape, now, was) && spec.has(key) {
                    causes.forbidden(&at, "");
                }
            }
            "priorityClassName" if spec.text(key) != old.text(key) && !spec.zero(key) => causes.forbidden(&at, ""),
            "disruptionMode" | "priority" if now != was && spec.has(key) => causes.forbidden(&at, ""),
            _ => {}
        }
    }
}

fn status(object: &Value, old: &Value, causes: &mut Causes) {
    let (now, was) = (object.field("status"), old.field("status"));
    conditions::conditions(now.list("conditions"), &STATUS.child("conditions"), causes);
    let claims = object.field("spec").list("resourceClaims");
    let (list, at) = (now.list("resourceClaimStatuses"), STATUS.child("resourceClaimStatuses"));
    for (i, one) in list.iter().enumerate() {
        if !claims.iter().any(|c| c.text("name") == one.text("name")) {
            let detail = "must match the name of an entry in `spec.resourceClaims`";
            causes.invalid_str(&at.index(i).child("name"), one.text("name"), detail);
        }
    }
    claim_statuses(list, was.list("resourceClaimStatuses"), &at, causes);
}

/// `Validate_PodGroupStatus`: entries that did not change are not validated again.
fn claim_statuses(list: &[Value], old: &[Value], at: &Path<'_>, causes: &mut Causes) {
    const SHAPE: &str = "scheduling.PodGroupResourceClaimStatus";
    if list.len() == old.len() && list.iter().zip(old).all(|(a, b)| internal::same(SHAPE, a, b)) {
        return;
    }
    if list.len() > MOST_CLAIMS {
        return causes.too_many(at, list.len(), MOST_CLAIMS);
    }
    group::unique(list, SHAPE, at, causes);
    for (i, one) in list.iter().enumerate() {
        let before = old.iter().find(|b| b.text("name") == one.text("name")).unwrap_or(&Value::Null);
        if one.opt("resourceClaimName") != before.opt("resourceClaimName") {
            group::claim_name(one, "resourceClaimName", &at.index(i), causes);
        }
    }
}

/// `printPodGroup`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    let policy = if spec.field("schedulingPolicy").has("gang") { "Gang" } else { "Basic" };
    let workload = spec.opt("podGroupTemplateRef").map_or("<none>", |r| r.field("workload").text("workloadName"));
    // Of several conditions of a type the last counts.
    let last = |kind| subject.status().list("conditions").iter().rev().find(|c| c.text("type") == kind);
    let status = match (last("DisruptionTarget"), last("PodGroupScheduled")) {
        (Some(disrupted), _) => disrupted.text("reason"),
        (None, Some(scheduled)) if scheduled.text("status") == "True" => "Scheduled",
        (None, Some(_)) => "Unschedulable",
        (None, None) => "Pending",
    };
    cells![subject.name(), policy, workload, status, subject.age()]
}
