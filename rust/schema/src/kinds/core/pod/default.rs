//! Pods and the pod templates of every workload.

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use std::collections::HashMap;

use hydrofoil_types::{Quantity, SmolStr, Value};

use hydrofoil_rules::pod_template;
use hydrofoil_rules::quantities::{fill_list, resource_list};
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

/// `SetObjectDefaults_Pod`.
pub(crate) fn pod(release: Release, object: &mut Value) {
    let pod = object.make("spec");
    // SetDefaults_Pod runs before the defaults of its parts.
    for key in ["containers", "initContainers"] {
        pod.each(key, |container| {
            container.within("resources", |resources| {
                if let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() {
                    fill_list(resources, "requests", &limits);
                }
            });
        });
    }
    if release.enabled(Gate::PodLevelResources) {
        pod_level(pod);
    }
    pod.unset("enableServiceLinks", true);
    if pod.flag("hostNetwork") {
        for key in ["containers", "initContainers"] {
            pod.each(key, host_ports);
        }
    }
    pod_template::default::spec(pod);
    object.within("status", |s| {
        addresses(s);
        for key in ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"] {
            s.each(key, |c| resource_list(c, "allocatedResources"));
        }
    });
}

/// Make the address and the list of addresses agree: the conversion sets the first item of the list to the address
/// (`pkg/apis/core/v1/conversion.go`).
fn addresses(status: &mut Value) {
    let first = status.list("podIPs").first().map_or("", |ip| ip.text("ip")).to_owned();
    let single = status.text("podIP").to_owned();
    if single.is_empty() {
        if !first.is_empty() {
            status.put("podIP", first);
        }
    } else if single != first {
        let mut ip = Value::object();
        ip.put("ip", single);
        status.put("podIPs", vec![ip]);
    }
}

fn host_ports(container: &mut Value) {
    container.each("ports", |port| {
        if port.zero("hostPort") {
            let number = port.int("containerPort");
            port.put("hostPort", number);
        }
    });
}

fn supported(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// `defaultHugePagePodLimits` and `defaultPodRequests`.
fn pod_level(spec: &mut Value) {
    let Some(resources) = spec.opt("resources") else { return };
    let has = |key: &str| resources.get(key).and_then(Value::as_object).is_some_and(|m| !m.is_empty());
    if !has("limits") && !has("requests") {
        return;
    }
    let limits: Vec<_> = aggregate(spec, "limits")
        .into_iter()
        .filter(|(name, _)| name.starts_with("hugepages-") && resources.field("requests").get(name).is_none())
        .collect();
    let mut requests: Vec<_> =
        aggregate(spec, "requests").into_iter().filter(|(n, _)| matches!(n.as_str(), "cpu" | "memory")).collect();
    let Some(resources) = spec.get_mut("resources") else { return };
    if !limits.is_empty() {
        fill_list(resources, "limits", &hydrofoil_types::Map::from_unique(limits));
    }
    let Some(limits) = resources.get("limits").and_then(Value::as_object).filter(|m| !m.is_empty()) else { return };
    for (name, amount) in limits {
        if supported(name) && !requests.iter().any(|(n, _)| n == name) {
            requests.push((name.clone(), amount.clone()));
        }
    }
    if !requests.is_empty() {
        fill_list(resources, "requests", &hydrofoil_types::Map::from_unique(requests));
    }
}

/// `AggregateContainerRequests` and `-Limits` of component-helpers: the sum of the containers and
/// sidecars, or the needs of an init container beside the sidecars before it, if that is more.
fn aggregate(spec: &Value, key: &str) -> Vec<(SmolStr, Value)> {
    let mut sum = Sums::default();
    for container in spec.list("containers") {
        each_amount(container, key, |n, q| sum.add(n, q));
    }
    let mut sidecars = Sums::default();
    let mut peak = Sums::default();
    for container in spec.list("initContainers") {
        if container.text("restartPolicy") == "Always" {
            // The amounts of the other sidecars are in the peak already.
            each_amount(container, key, |n, q| {
                sum.add(n, q);
                sidecars.add(n, q);
                peak.most(n, sidecars.get(n).unwrap_or(q));
            });
        } else {
            each_amount(container, key, |n, q| peak.most(n, sidecars.get(n).map_or(q, |beside| add(beside, q))));
        }
    }
    for (n, q) in &peak.list {
        sum.most(n, *q);
    }
    sum.list.into_iter().map(|(n, q)| (n, Value::from(q.to_string()))).collect()
}

fn each_amount(container: &Value, key: &str, mut f: impl FnMut(&SmolStr, Quantity)) {
    for (name, amount) in container.field("resources").entries(key) {
        if let Some(quantity) = amount.as_str().and_then(|t| Quantity::parse(t).ok()) {
            f(name, quantity);
        }
    }
}

fn add(sum: Quantity, amount: Quantity) -> Quantity {
    sum.with_nano(sum.nano().saturating_add(amount.nano()))
}

/// Amounts in the order in which their names were added.
#[derive(Default)]
struct Sums {
    list: Vec<(SmolStr, Quantity)>,
    places: HashMap<SmolStr, usize>,
}

impl Sums {
    fn get(&self, name: &SmolStr) -> Option<Quantity> {
        self.places.get(name).map(|at| self.list[*at].1)
    }

    /// Replace the amount of a name, or append it.
    fn put(&mut self, name: &SmolStr, amount: Quantity) {
        if let Some(at) = self.places.get(name) {
            self.list[*at].1 = amount;
        } else {
            self.places.insert(name.clone(), self.list.len());
            self.list.push((name.clone(), amount));
        }
    }

    fn add(&mut self, name: &SmolStr, amount: Quantity) {
        self.put(name, self.get(name).map_or(amount, |sum| add(sum, amount)));
    }

    fn most(&mut self, name: &SmolStr, amount: Quantity) {
        if self.get(name).is_none_or(|max| max.nano() < amount.nano()) {
            self.put(name, amount);
        }
    }
}
