//! The resources of a node that its pods may request (`plugin/pkg/admission/podresize`).

#![allow(clippy::arithmetic_side_effects, reason = "amounts are far below 128 bits")]

use hydrofoil_types::{Quantity, Value};

use super::amounts::{Amounts, of_pod};
use hydrofoil_types::read::Read;

/// Return the requests of a pod that are above those a node can allocate, as text; empty without any
/// (`validateRequestsWithinAllocatable`).
pub fn shortage(pod: &Value, node: &Value) -> String {
    let mut requests = of_pod(pod, "requests");
    requests.add(&Amounts::of(pod.field("spec").field("overhead")));
    let allocatable = Amounts::of(node.field("status").field("allocatable"));
    let texts = [("cpu", Quantity::milli as fn(Quantity) -> i128), ("memory", Quantity::value)].map(|(name, shown)| {
        let (asked, there) = (requests.get(name), allocatable.get(name));
        let nano = |amount: Option<Quantity>| amount.map_or(0, Quantity::nano);
        (nano(asked) > nano(there)).then(|| {
            let (asked, there) = (asked.map_or(0, shown), there.map_or(0, shown));
            format!("{name}, requested: {asked}, allocatable: {there}")
        })
    });
    texts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
