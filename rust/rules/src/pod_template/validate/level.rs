//! Resources of the pod as a whole.

use hydrofoil_types::{Causes, Path, Quantity, Value};

use super::PodContext;
use crate::resource::{self, quantity};
use hydrofoil_types::read::Read;

/// `validatePodResources`.
pub fn resources(spec: &PodContext<'_>, path: &Path<'_>, causes: &mut Causes) {
    let Some(resources) = spec.spec.opt("resources") else { return };
    let path = path.child("resources");
    if spec.spec.field("os").text("name") == "windows" {
        return causes.forbidden(&path, "may not be set for a windows pod");
    }
    if resources.has("claims") {
        causes.forbidden(&path.child("claims"), "claims may not be set for Resources at pod-level");
    }
    resource::requirements(resources, &spec.claims, true, &path, causes);
    consistency(spec.spec, resources, &path, causes);
}

/// `validatePodResourceConsistency`.
fn consistency(pod: &Value, resources: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("requests");
    for (name, given) in resources.entries("requests") {
        let Some(sum) = aggregate(pod, "requests", name) else { continue };
        if sum.nano() > quantity(given).nano() {
            let detail = format!("must be greater than or equal to aggregate container requests of {sum}");
            causes.invalid(&at.key(name), given, &detail);
        }
    }
    let at = path.child("limits");
    for (name, given) in resources.entries("limits").filter(|(n, _)| resource::is_huge_page(n)) {
        let Some(sum) = aggregate(pod, "limits", name) else { continue };
        if sum.nano() > quantity(given).nano() {
            let detail = format!("must be greater than or equal to aggregate container limits of {sum}");
            causes.invalid(&at.key(name), given, &detail);
        }
    }
    let at = path.child("containers");
    for (i, container) in pod.list("containers").iter().enumerate() {
        for (name, limit) in container.field("resources").entries("limits") {
            let Some(most) = resources.field("limits").get(name) else { continue };
            if quantity(limit).nano() > quantity(most).nano() {
                let detail = format!("must be less than or equal to pod limits of {}", most.as_str().unwrap_or("0"));
                causes.invalid(&at.index(i).key(name).child("limits"), limit, &detail);
            }
        }
    }
}

/// Return the amount of one resource for all containers together, if any names it.
fn aggregate(pod: &Value, list: &str, name: &str) -> Option<Quantity> {
    let amount = |c: &Value| c.field("resources").field(list).get(name).map(quantity);
    let add = |a: Option<Quantity>, b: Option<Quantity>| match (a, b) {
        (Some(a), Some(b)) => Some(a.with_nano(a.nano().saturating_add(b.nano()))),
        (a, b) => a.or(b),
    };
    let most = |a: Option<Quantity>, b: Option<Quantity>| match (a, b) {
        (Some(a), Some(b)) => Some(if b.nano() > a.nano() { b } else { a }),
        (a, b) => a.or(b),
    };
    let mut sum = pod.list("containers").iter().map(amount).fold(None, add);
    let (mut sidecars, mut peak) = (None, None);
    for container in pod.list("initContainers") {
        if container.text("restartPolicy") == "Always" {
            sum = add(sum, amount(container));
            sidecars = add(sidecars, amount(container));
            peak = most(peak, sidecars);
        } else {
            peak = most(peak, add(sidecars, amount(container)));
        }
    }
    most(sum, peak)
}
