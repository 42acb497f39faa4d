//! The quality of service class of a pod (`pkg/apis/core/helper/qos`).

use hydrofoil_types::{Quantity, Value};

use hydrofoil_types::read::Read;

const COMPUTE: [&str; 2] = ["cpu", "memory"];

/// The sums of the positive amounts of both resources.
#[derive(Default, PartialEq)]
struct Sums([Option<i128>; 2]);

impl Sums {
    /// Add the amounts of a list and report whether it has both.
    fn add(&mut self, resources: &Value, list: &str) -> bool {
        let amounts = COMPUTE.map(|name| amount(resources, list, name));
        for (sum, amount) in self.0.iter_mut().zip(amounts) {
            *sum = amount.map(|n| sum.unwrap_or(0).saturating_add(n)).or(*sum);
        }
        amounts.iter().all(Option::is_some)
    }
}

/// `ComputePodQOS`: resources of the pod, even without amounts, count alone.
pub fn class(pod: &Value) -> &'static str {
    let spec = pod.field("spec");
    let (mut requests, mut limits) = (Sums::default(), Sums::default());
    let mut guaranteed = true;
    if let Some(level) = spec.opt("resources") {
        requests.add(level, "requests");
        guaranteed = limits.add(level, "limits") || level.zero("limits");
    } else {
        for container in spec.list("containers").iter().chain(spec.list("initContainers")) {
            requests.add(container.field("resources"), "requests");
            guaranteed &= limits.add(container.field("resources"), "limits");
        }
    }
    match (requests == Sums::default() && limits == Sums::default(), guaranteed && requests == limits) {
        (true, _) => "BestEffort",
        (false, true) => "Guaranteed",
        (false, false) => "Burstable",
    }
}

/// Return a positive amount of a resource.
fn amount(resources: &Value, list: &str, name: &str) -> Option<i128> {
    let text = resources.field(list).text(name);
    let nano = if text.is_empty() { 0 } else { Quantity::parse(text).ok()?.nano() };
    (nano > 0).then_some(nano)
}
