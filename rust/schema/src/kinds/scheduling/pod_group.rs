//! Pod groups (`pkg/registry/scheduling/podgroup/strategy.go`).

use hydrofoil_types::Value;

use crate::kind::{Strategy, reset_metadata};
use crate::read::Read;
use crate::rules::table::{Subject, cells};

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `printPodGroup`.
fn row(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    let policy = if spec.field("schedulingPolicy").has("gang") { "Gang" } else { "Basic" };
    let workload = spec.opt("podGroupTemplateRef").map_or("<none>", |r| r.field("workload").text("workloadName"));
    // Of several conditions of a type the last counts.
    let last = |kind| of.status().list("conditions").iter().rev().find(|c| c.text("type") == kind);
    let status = match (last("DisruptionTarget"), last("PodGroupScheduled")) {
        (Some(disrupted), _) => disrupted.text("reason"),
        (None, Some(scheduled)) if scheduled.text("status") == "True" => "Scheduled",
        (None, Some(_)) => "Unschedulable",
        (None, None) => "Pending",
    };
    cells![of.name(), policy, workload, status, of.age()]
}
