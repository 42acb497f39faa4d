//! Priority classes and pod groups.

use hydrofoil_types::Value;

use super::subject::Subject;
use crate::read::Read;

/// `printPriorityClass`.
pub(super) fn priority_class(of: &Subject<'_>) -> Vec<Value> {
    let class = of.object;
    cells![of.name(), class.i("value"), class.b("globalDefault"), of.age(), class.s("preemptionPolicy")]
}

/// `printPodGroup`.
pub(super) fn pod_group(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    let policy = if spec.sub("schedulingPolicy").has("gang") { "Gang" } else { "Basic" };
    let workload = spec.opt("podGroupTemplateRef").map_or("<none>", |r| r.sub("workload").s("workloadName"));
    // Of several conditions of a type the last counts.
    let last = |kind| of.status().list("conditions").iter().rev().find(|c| c.s("type") == kind);
    let status = match (last("DisruptionTarget"), last("PodGroupScheduled")) {
        (Some(disrupted), _) => disrupted.s("reason"),
        (None, Some(scheduled)) if scheduled.s("status") == "True" => "Scheduled",
        (None, Some(_)) => "Unschedulable",
        (None, None) => "Pending",
    };
    cells![of.name(), policy, workload, status, of.age()]
}
