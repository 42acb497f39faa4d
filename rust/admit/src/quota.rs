//! Resource quotas (apiserver `pkg/admission/plugin/resourcequota/controller.go`, `pkg/quota/v1/evaluator/core`).

#![allow(clippy::arithmetic_side_effects, reason = "amounts are far below 128 bits")]
#![allow(clippy::indexing_slicing, reason = "places of quotas come from the list of them")]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use hydrofoil_types::{Quantity, Value};
use smol_str::SmolStr;

use super::amounts::{Amounts, of_pod};
use super::limited::Uncovered;
use super::refusal::Refusal;
use super::scope;
use hydrofoil_rules::resource::is_extended;
use hydrofoil_types::read::Read;

/// A write that may be charged to quotas.
#[derive(Clone, Copy, Debug)]
pub struct Charge<'a> {
    /// The group of the resource.
    pub group: &'a str,
    /// The resource in the plural.
    pub resource: &'a str,
    /// The subresource; empty for the object itself.
    pub subresource: &'a str,
    /// The stored object; absent on creation.
    pub old: Option<&'a Value>,
    /// The object to write.
    pub object: &'a Value,
    /// The `limitedResources` of the plug-in's configuration.
    pub limited: &'a [Value],
}

impl Charge<'_> {
    /// Return the new `status.used` of each quota that changes, or why one of them refuses (`CheckRequest`).
    pub fn check(&self, quotas: &[Value]) -> Result<Vec<(usize, Value)>, Refusal> {
        if !self.counts() {
            return Ok(Vec::new());
        }
        let uncovered =
            Uncovered::of((self.group, self.resource), self.object, self.limited, || self.usage(self.object));
        let mut fitting = Vec::new();
        let mut covered = BTreeSet::new();
        for (i, quota) in quotas.iter().enumerate() {
            let (hard, used) =
                (Amounts::of(quota.field("status").field("hard")), Amounts::of(quota.field("status").field("used")));
            let name = quota.field("metadata").text("name");
            let own: Vec<SmolStr> = hard.0.keys().filter(|n| self.measures(n)).cloned().collect();
            if own.is_empty() || !scope::all_match(quota, self.resource, self.object) {
                continue;
            }
            if let Some(missing) = self.missing(&own) {
                return Err(Refusal::Forbidden(format!("failed quota: {name}: must specify {missing}")));
            }
            if own.iter().any(|n| used.get(n).is_none()) {
                return Err(Refusal::Forbidden(format!(
                    "status unknown for quota: {name}, resources: {}",
                    own.join(",")
                )));
            }
            covered.extend(own);
            fitting.push((i, name, hard, used));
        }
        if fitting.is_empty() && uncovered.is_empty() {
            return Ok(Vec::new());
        }
        let usage = self.usage(self.object);
        let negative = usage.only(|n| usage.get(n).is_some_and(|q| q.nano() < 0));
        if !negative.0.is_empty() {
            let names: Vec<&str> = negative.0.keys().map(SmolStr::as_str).collect();
            return Err(Refusal::Forbidden(format!("quota usage is negative for resource(s): {}", names.join(","))));
        }
        if !uncovered.is_empty() && self.changes(&usage, fitting.iter().map(|(i, ..)| &quotas[*i])) {
            uncovered.refuse((self.resource, self.object), &covered, quotas)?;
        }
        let mut out = Vec::new();
        for (i, name, hard, mut used) in fitting {
            let mut delta = match self.old {
                Some(old) if scope::all_match(&quotas[i], self.resource, old) => usage.less(&self.usage(old)),
                _ => usage.clone(),
            };
            delta.0.retain(|n, q| q.nano() != 0 && hard.get(n).is_some());
            if delta.0.is_empty() {
                continue;
            }
            let before = used.clone();
            used.add(&delta);
            let over = delta.only(|n| used.get(n).map(Quantity::nano) > hard.get(n).map(Quantity::nano));
            if self.subresource != "status" && !over.0.is_empty() {
                let (before, hard) = (before.only(|n| over.get(n).is_some()), hard.only(|n| over.get(n).is_some()));
                let why = format!("exceeded quota: {name}, requested: {over}, used: {before}, limited: {hard}");
                return Err(Refusal::Forbidden(why));
            }
            out.push((i, used.value()));
        }
        Ok(out)
    }

    /// Report whether the write changes the usage that a quota which matches it has, or that none has.
    fn changes<'q>(&self, usage: &Amounts, quotas: impl Iterator<Item = &'q Value>) -> bool {
        let Some(old) = self.old else { return usage.0.values().any(|q| q.nano() != 0) };
        let before = self.usage(old);
        let delta = |same: bool| if same { usage.less(&before) } else { usage.clone() };
        let mut deltas: Vec<Amounts> = quotas.map(|quota| delta(scope::all_match(quota, self.resource, old))).collect();
        if deltas.is_empty() {
            deltas.push(delta(true));
        }
        deltas.iter().any(|delta| delta.0.values().any(|q| q.nano() != 0))
    }

    /// Report whether the write can change the usage at all (`Handles`).
    fn counts(&self) -> bool {
        match (self.group, self.resource, self.subresource, self.old) {
            ("", "events" | "bindings" | "componentstatuses", ..) | ("events.k8s.io", ..) => false,
            ("", "pods", "", Some(old)) => scope::is_terminating(old) != scope::is_terminating(self.object),
            ("", "pods", "resize", Some(_)) | ("", "services" | "persistentvolumeclaims", "", Some(_)) => true,
            ("", "persistentvolumeclaims", "status", Some(old)) => {
                let storage =
                    |claim: &Value| claim.field("status").field("allocatedResources").text("storage").to_owned();
                storage(old) != storage(self.object)
            }
            (.., subresource, None) => subresource.is_empty(),
            _ => false,
        }
    }

    /// Return the name under which objects of the resource are counted.
    fn counted_name(&self) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        format!("count/{}{dot}{}", self.resource, self.group)
    }

    /// Report whether a quota's resource concerns objects of this kind (`MatchingResources`).
    fn measures(&self, name: &str) -> bool {
        if name == self.counted_name() {
            return true;
        }
        match (self.group, self.resource) {
            ("", "pods") => {
                let plain = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits.")).unwrap_or(name);
                matches!(plain, "cpu" | "memory" | "ephemeral-storage")
                    || name == "pods"
                    || name.starts_with("hugepages-")
                    || name.starts_with("requests.hugepages-")
                    || name.strip_prefix("requests.").is_some_and(is_extended)
            }
            ("", "services") => matches!(name, "services" | "services.nodeports" | "services.loadbalancers"),
            ("", "persistentvolumeclaims") => {
                let own = name.split_once(CLASS).map_or(name, |(_, own)| own);
                matches!(own, "persistentvolumeclaims" | "requests.storage")
            }
            ("", "configmaps" | "resourcequotas" | "replicationcontrollers" | "secrets") => name == self.resource,
            ("resource.k8s.io", "resourceclaims") => name.ends_with(DEVICES),
            _ => false,
        }
    }

    /// Return the required resources that containers do not specify (`Constraints`).
    fn missing(&self, own: &[SmolStr]) -> Option<String> {
        if (self.group, self.resource) != ("", "pods") {
            return None;
        }
        let spec = self.object.field("spec");
        let level = spec.field("resources");
        if !level.zero("requests") || !level.zero("limits") {
            return None;
        }
        let mut texts = Vec::new();
        for name in own {
            let (list, plain) = match name.split_once('.') {
                Some(("requests", plain)) => ("requests", plain),
                Some(("limits", plain)) => ("limits", plain),
                _ => ("requests", name.as_str()),
            };
            if !matches!(plain, "cpu" | "memory") {
                continue;
            }
            let lacking: BTreeSet<&str> = spec
                .list("containers")
                .iter()
                .chain(spec.list("initContainers"))
                .filter(|c| c.field("resources").field(list).get(plain).is_none())
                .map(|c| c.text("name"))
                .collect();
            if !lacking.is_empty() {
                texts.push(format!("{name} for: {}", lacking.into_iter().collect::<Vec<_>>().join(",")));
            }
        }
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// Return the usage of an object.
    fn usage(&self, object: &Value) -> Amounts {
        let mut out = Amounts::default();
        out.count(self.counted_name(), 1);
        match (self.group, self.resource) {
            ("", "pods") => pod(object, &mut out),
            ("", "services") => service(object.field("spec"), &mut out),
            ("", "persistentvolumeclaims") => claim(object, &mut out),
            ("resource.k8s.io", "resourceclaims") => out.add(&devices(object)),
            ("", name @ ("configmaps" | "resourcequotas" | "replicationcontrollers" | "secrets")) => out.count(name, 1),
            _ => {}
        }
        out
    }
}

/// Return the usage of a quota by further objects of one resource, beside that of earlier ones; nothing if the quota
/// has no limit for the resource (`CalculateUsage`).
pub fn usage<'v>(
    (group, resource): (&str, &str),
    quota: &Value,
    earlier: &Value,
    objects: impl Iterator<Item = Cow<'v, Value>>,
) -> Option<Value> {
    let nothing = Charge { group, resource, subresource: "", old: None, object: &Value::Null, limited: &[] };
    let hard = Amounts::of(quota.field("spec").field("hard"));
    let own = hard.only(|name| nothing.measures(name));
    if own.0.is_empty() {
        return None;
    }
    let mut used = Amounts::of(earlier);
    for name in own.0.keys().filter(|name| earlier.get(name).is_none()) {
        used.count(name.clone(), 0);
    }
    for object in objects {
        if scope::all_match(quota, resource, &object) {
            used.add(&nothing.usage(&object).only(|name| own.get(name).is_some()));
        }
    }
    Some(used.value())
}

/// `PodUsageFunc`: a pod that has ended is only counted.
fn pod(object: &Value, out: &mut Amounts) {
    if matches!(object.field("status").text("phase"), "Failed" | "Succeeded") {
        return;
    }
    out.count("pods", 1);
    let overhead = Amounts::of(object.field("spec").field("overhead"));
    let mut requests = of_pod(object, "requests");
    requests.add(&overhead);
    let mut limits = of_pod(object, "limits");
    limits.add(&overhead.only(|n| limits.get(n).is_some_and(|q| q.nano() != 0)));
    for (name, quantity) in requests.0 {
        let plain = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
        if plain || is_extended(&name) {
            out.0.insert(format!("requests.{name}").into(), quantity);
        }
        if plain {
            out.0.insert(name, quantity);
        }
    }
    for (name, quantity) in limits.0 {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            out.0.insert(format!("limits.{name}").into(), quantity);
        }
    }
}

/// Count node ports as requested: they are not allocated yet.
fn service(spec: &Value, out: &mut Amounts) {
    let ports = spec.list("ports");
    let balanced = spec.text("type") == "LoadBalancer";
    let node_ports = match spec.text("type") {
        "LoadBalancer" if spec.opt("allocateLoadBalancerNodePorts").and_then(Value::as_bool) == Some(false) => {
            ports.iter().filter(|p| p.int("nodePort") != 0).count()
        }
        "NodePort" | "LoadBalancer" => ports.len(),
        _ => 0,
    };
    out.count("services", 1);
    out.count("services.nodeports", node_ports);
    out.count("services.loadbalancers", usize::from(balanced));
}

const DEVICES: &str = ".deviceclass.resource.k8s.io/devices";
/// `AllocationResultsMaxSize`, the most that a request of all devices can get.
const ALL: usize = 32;

/// Return the devices of each class that a claim asks for; of choices it may get the largest (`claimEvaluator.Usage`).
fn devices(claim: &Value) -> Amounts {
    let of = |request: &Value| {
        let count = match request.text("allocationMode") {
            "ExactCount" => usize::try_from(request.int("count")).unwrap_or(0),
            "All" => ALL,
            _ => 0,
        };
        (format!("{}{DEVICES}", request.text("deviceClassName")), count)
    };
    let mut counts = BTreeMap::<String, usize>::new();
    for request in claim.field("spec").field("devices").list("requests") {
        let choices = request.list("firstAvailable");
        let mut largest = BTreeMap::<String, usize>::new();
        // In v1beta1 the fields of `exactly` are in the request itself.
        let exactly = request.opt("exactly").unwrap_or(request);
        for (name, count) in choices.iter().chain(choices.is_empty().then_some(exactly)).map(of) {
            let most = largest.entry(name).or_default();
            *most = count.max(*most);
        }
        for (name, count) in largest {
            *counts.entry(name).or_default() += count;
        }
    }
    let mut out = Amounts::default();
    for (name, count) in counts {
        out.count(name, count);
    }
    out
}

const CLASS: &str = ".storageclass.storage.k8s.io/";

fn claim(object: &Value, out: &mut Amounts) {
    let spec = object.field("spec");
    let legacy = object.field("metadata").field("annotations").text("volume.beta.kubernetes.io/storage-class");
    let class = if legacy.is_empty() { spec.text("storageClassName") } else { legacy };
    let asked = Amounts::of(spec.field("resources").field("requests")).get("storage");
    let allocated = Amounts::of(object.field("status").field("allocatedResources")).get("storage");
    let storage = asked.map(|asked| {
        let larger = allocated.filter(|a| a.nano() > asked.nano()).unwrap_or(asked);
        larger.with_nano(larger.value() * 1_000_000_000)
    });
    for prefix in [String::new(), format!("{class}{CLASS}")] {
        if prefix.starts_with('.') {
            continue;
        }
        out.count(format!("{prefix}persistentvolumeclaims"), 1);
        if let Some(storage) = storage {
            out.0.insert(format!("{prefix}requests.storage").into(), storage);
        }
    }
}
