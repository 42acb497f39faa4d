//! The status of a pod.

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::{CauseReason, Causes, Duplicates, KeySet, Path, Value};

use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::format::{ip, label, name};
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::Read;

const NEGATIVE: &str = "must be a non-negative integer";

/// `ValidatePodStatusUpdate`.
pub(crate) fn update(release: Release, object: &Value, old: &Value, causes: &mut Causes) {
    let path = Path::new("status");
    let (new, before) = (object.field("status"), old.field("status"));
    let at = path.child("conditions");
    for (i, condition) in new.list("conditions").iter().enumerate() {
        let at = at.index(i);
        if condition.int("observedGeneration") < 0 {
            causes.invalid_int(&at.child("observedGeneration"), condition.int("observedGeneration"), NEGATIVE);
        }
        if !matches!(condition.text("type"), "PodScheduled" | "Ready" | "Initialized") {
            causes.format(&at.child("Type"), condition.text("type"), label::key);
        }
    }
    let node = new.text("nominatedNodeName");
    if node != before.text("nominatedNodeName") && !node.is_empty() {
        let at = path.child("nominatedNodeName");
        causes.format(&at, node, name::subdomain);
        if release.enabled(Gate::ClearingNominatedNodeNameAfterBinding) && !old.field("spec").zero("nodeName") {
            causes.forbidden(&at, "may not be set on pods that are already bound to a node");
        }
    }
    if new.int("observedGeneration") < 0 {
        causes.invalid_int(&path.child("observedGeneration"), new.int("observedGeneration"), NEGATIVE);
    }
    if new.text("qosClass") != before.text("qosClass") {
        causes.invalid_str(&path.child("qosClass"), new.text("qosClass"), IMMUTABLE);
    }
    claims(new, object.field("spec"), &path.child("resourceClaimStatuses"), causes);
    extended_claim(new, object.field("spec"), &path.child("extendedResourceClaimStatus"), causes);
    addresses(new, before, "podIP", "podIPs", &path, causes);
    addresses(new, before, "hostIP", "hostIPs", &path, causes);
}

fn claims(status: &Value, spec: &Value, path: &Path<'_>, causes: &mut Causes) {
    let list = status.list("resourceClaimStatuses");
    let known = hydrofoil_rules::pod_template::validate::by_name(spec.list("resourceClaims"));
    let duplicates = Duplicates::of(list, |v| v.text("name"));
    for (i, claim) in list.iter().enumerate() {
        let at = path.index(i);
        let at = at.child("name");
        let own = claim.text("name");
        if !known.has(&own) {
            causes.invalid_str(&at, own, "must match the name of an entry in `spec.resourceClaims`");
        }
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at, own);
        }
        if let Some(name) = claim.opt("resourceClaimName") {
            causes.format(&at, name.as_str().unwrap_or(""), name::subdomain);
        }
    }
}

fn extended_claim(status: &Value, spec: &Value, path: &Path<'_>, causes: &mut Causes) {
    let Some(claim) = status.opt("extendedResourceClaimStatus") else { return };
    let mappings = claim.list("requestMappings");
    let at = path.child("requestMappings");
    if mappings.is_empty() {
        causes.required(&at, "at least one request mapping is required");
    }
    let containers = hydrofoil_rules::pod_template::validate::by_name(
        spec.list("containers").iter().chain(spec.list("initContainers")),
    );
    let duplicates = Duplicates::of(mappings, |m| (m.text("containerName"), m.text("resourceName")));
    for (i, mapping) in mappings.iter().enumerate() {
        let at = at.index(i);
        let (container, resource) = (mapping.text("containerName"), mapping.text("resourceName"));
        match containers.first(&container) {
            None => {
                let detail = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
                causes.invalid_str(&at.child("containerName"), container, detail);
            }
            Some(c) if !c.field("resources").field("requests").has(resource) => {
                let detail = "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests";
                causes.invalid_str(&at.child("resourceName"), resource, detail);
            }
            Some(_) => {}
        }
        causes.format(&path.child("requestName"), mapping.text("requestName"), name::label);
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("containerName"), container);
            causes.duplicate_str(&at.child("resourceName"), resource);
        }
    }
    let at = path.child("resourceClaimName");
    if claim.zero("resourceClaimName") {
        causes.need(&at);
    } else {
        causes.format(&at, claim.text("resourceClaimName"), name::subdomain);
    }
}

/// `validatePodIPs` and `validateHostIPs`. The conversion puts the single address first in the list.
fn addresses(new: &Value, old: &Value, one: &str, many: &str, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child(many);
    let mut list: Vec<&str> = new.list(many).iter().map(|i| i.text("ip")).collect();
    let single = new.text(one);
    if one == "podIP" && !single.is_empty() && list.first() != Some(&single) {
        list = vec![single];
    }
    let Some(first) = list.first() else { return };
    if one == "hostIP" && *first != single {
        causes.invalid_str(&at.index(0).child("ip"), first, "must be equal to `hostIP`");
    }
    let known: KeySet<&str> = old.list(many).iter().map(|i| i.text("ip")).collect();
    for (i, text) in list.iter().enumerate() {
        if !known.contains(text) {
            causes.format(&at.index(i), text, ip::ip_legacy);
        }
    }
    if list.len() > 1 {
        if let Some(bad) = list.iter().position(|t| ip::parse_sloppy(t).is_none()) {
            let message =
                format!("Internal error: failed to check for dual stack with error:invalid IP[{bad}]: {}", list[bad]);
            causes.push(&at, CauseReason::Internal, message);
        }
        let v6 = list.iter().filter(|t| t.contains(':')).count();
        if v6 == 0 || v6 == list.len() || list.len() > 2 {
            let shown: Vec<Value> = list
                .iter()
                .map(|t| hydrofoil_types::Map::from_unique(vec![("IP".into(), Value::from(*t))]).into())
                .collect();
            causes.invalid(&at, &Value::from(shown), "may specify no more than one IP for each IP family");
        }
    }
}
