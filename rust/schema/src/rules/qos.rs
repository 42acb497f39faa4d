//! The quality of service class of a pod (`pkg/apis/core/helper/qos`).

use hydrofoil_types::{Quantity, Value};

use crate::read::Read;

const COMPUTE: [&str; 2] = ["cpu", "memory"];

/// `ComputePodQOS`.
pub(crate) fn class(pod: &Value) -> &'static str {
    let spec = pod.field("spec");
    // Resources of the pod itself count even if they are empty.
    let holders: Vec<&Value> = match spec.opt("resources") {
        None => {
            spec.list("containers").iter().chain(spec.list("initContainers")).map(|c| c.field("resources")).collect()
        }
        Some(own) => vec![own],
    };
    let mut any = false;
    let mut guaranteed = true;
    for resources in &holders {
        for name in COMPUTE {
            let limit = amount(resources, "limits", name);
            let request = amount(resources, "requests", name);
            any |= limit.is_some() || request.is_some();
            guaranteed &= limit.is_some() && (request.is_none() || request == limit);
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// Return a positive amount of a resource.
fn amount(resources: &Value, list: &str, name: &str) -> Option<i128> {
    let text = resources.field(list).text(name);
    let nano = if text.is_empty() { 0 } else { Quantity::parse(text).ok()?.nano() };
    (nano > 0).then_some(nano)
}
