//! Pod disruption budgets (`pkg/registry/policy/poddisruptionbudget/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{GenerationRule, MetadataOrder, NameRule, Strategy};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::table::text::plain;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::workload::{at_most_all, count_or_percent, counts};
use hydrofoil_rules::{conditions, selector};
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::PathSegment,
    allow_unconditional_update: false,
    has_status: true,
    generation: GenerationRule::of_spec("policy.PodDisruptionBudgetSpec"),
    // The validation of the kind does not cover metadata.
    metadata_order: MetadataOrder::Last,
    kube_finalizers: false,
    metadata_on_update: &[],
    metadata_on_status: &[],
    validate: |_, object, causes| validate(object, causes),
    validate_update: |req, object, _, causes| {
        if req.subresource == "status" {
            validate_status(object, causes);
        } else {
            validate(object, causes);
        }
    },
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `ValidatePodDisruptionBudgetSpec`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    if spec.has("minAvailable") && spec.has("maxUnavailable") {
        let detail = "minAvailable and maxUnavailable cannot be both set";
        causes.invalid_internal(&SPEC, "policy.PodDisruptionBudgetSpec", spec, detail);
    }
    for key in ["minAvailable", "maxUnavailable"] {
        if let Some(value) = spec.opt(key) {
            count_or_percent(value, &SPEC.child(key), causes);
            at_most_all(value, &SPEC.child(key), causes);
        }
    }
    selector::label_selector(spec.field("selector"), &SPEC.child("selector"), causes);
    if let Some(policy) = spec.opt("unhealthyPodEvictionPolicy") {
        let at = SPEC.child("unhealthyPodEvictionPolicy");
        causes.one_of(&at, policy.as_str().unwrap_or(""), &["AlwaysAllow", "IfHealthyBudget"]);
    }
}

/// `ValidatePodDisruptionBudgetStatusUpdate`.
fn validate_status(object: &Value, causes: &mut Causes) {
    let path = Path::new("status");
    let status = object.field("status");
    conditions::conditions(status.list("conditions"), &path.child("conditions"), causes);
    counts(status, &["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"], &path, causes);
}

/// `printPodDisruptionBudget`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let bound = |key| subject.spec().opt(key).map_or_else(|| "N/A".to_owned(), plain);
    cells![
        subject.name(),
        bound("minAvailable"),
        bound("maxUnavailable"),
        subject.status().int("disruptionsAllowed"),
        subject.age(),
    ]
}
