//! Services.

use hydrofoil_types::{Causes, Duplicates, KeySet, Path, Value, Whole};

use super::cluster_ips;
use crate::Request;
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{ip, label, name};
use hydrofoil_rules::load_balancer::balancer;
use hydrofoil_rules::{address, meta, pod_template};
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");
const BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";
const SOURCES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

/// `ValidateServiceUpdate` and that of the status.
pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if req.subresource == "status" {
        return balancer_status(object, old, causes);
    }
    let (new, before) = (object.field("spec"), old.field("spec"));
    cluster_ips::changes(new, before, causes);
    if new.text("type") == "LoadBalancer" && before.text("type") == "LoadBalancer" {
        let (a, b) = (new.opt("loadBalancerClass"), before.opt("loadBalancerClass"));
        if a != b {
            causes.invalid(&SPEC.child("loadBalancerClass"), new.field("loadBalancerClass"), "may not change once set");
        }
    }
    // The rules report it again.
    balancer_class(new, causes);
    let checked = |s: &Value| s.text("type") == "LoadBalancer" && s.text("externalTrafficPolicy") == "Local";
    if checked(new) && checked(before) && new.int("healthCheckNodePort") != before.int("healthCheckNodePort") {
        causes.forbidden(&SPEC.child("healthCheckNodePort"), "field is immutable");
    }
    rules(object, Some(old), causes);
}

/// `validateLoadBalancerClassField` of the object itself.
fn balancer_class(spec: &Value, causes: &mut Causes) {
    let Some(class) = spec.opt("loadBalancerClass") else { return };
    let at = SPEC.child("loadBalancerClass");
    if spec.text("type") == "LoadBalancer" {
        causes.format(&at, class.as_str().unwrap_or(""), label::key);
    } else {
        causes.forbidden(&at, BALANCER);
    }
}

/// `validateService` after its metadata.
pub(crate) fn rules(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let spec = object.field("spec");
    let kind = spec.text("type");
    hints(object, causes);
    let ports = spec.list("ports");
    let ports_at = SPEC.child("ports");
    if ports.is_empty() && !cluster_ips::headless(spec) && kind != "ExternalName" {
        causes.need(&ports_at);
    }
    by_type(spec, kind, causes);
    let duplicates = Duplicates::of(ports, |v| v.text("name"));
    for (i, port) in ports.iter().enumerate() {
        port_of(port, ports.len() > 1, duplicates.is_repeat(i), &ports_at.index(i), causes);
    }
    meta::labels(spec.get("selector"), &SPEC.child("selector"), causes);
    causes.one_of_required(&SPEC.child("sessionAffinity"), spec.text("sessionAffinity"), &["ClientIP", "None"]);
    affinity(spec, causes);
    cluster_ips::rules(spec, old.map(|o| o.field("spec")), causes);
    let at = SPEC.child("externalIPs");
    let kept: KeySet<_> = old.map_or(&[][..], |o| o.field("spec").list("externalIPs")).iter().map(Whole).collect();
    for (i, external) in spec.list("externalIPs").iter().enumerate() {
        let (text, before) = (external.as_str().unwrap_or(""), causes.len());
        if !kept.contains(&Whole(external)) {
            causes.format(&at.index(i), text, ip::ip_legacy);
        }
        if causes.len() == before {
            address::usable(text, &at.index(i), causes);
        }
    }
    let kinds = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    causes.one_of_required(&SPEC.child("type"), kind, &kinds);
    for (i, port) in ports.iter().enumerate() {
        if kind == "ClusterIP" && port.int("nodePort") != 0 {
            causes.forbidden(&ports_at.index(i).child("nodePort"), "may not be used when `type` is 'ClusterIP'");
        }
    }
    duplicate_ports(ports, &ports_at, causes);
    source_ranges(object, old, causes);
    let at = SPEC.child("allocateLoadBalancerNodePorts");
    if spec.has("allocateLoadBalancerNodePorts") && kind != "LoadBalancer" {
        causes.forbidden(&at, BALANCER);
    }
    if kind == "LoadBalancer" && !spec.has("allocateLoadBalancerNodePorts") {
        causes.need(&Path::new("allocateLoadBalancerNodePorts"));
    }
    balancer_class(spec, causes);
    traffic(spec, kind, causes);
}

fn hints(object: &Value, causes: &mut Causes) {
    let annotations = object.field("metadata").field("annotations");
    let (hints, mode) = ("service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode");
    if let (Some(a), Some(b)) = (annotations.opt(hints), annotations.opt(mode))
        && a != b
    {
        let meta = Path::new("metadata");
        let detail = format!("must match annotations[{hints}] when both are specified");
        causes.invalid(&meta.child("annotations").key(mode), b, &detail);
    }
}

fn by_type(spec: &Value, kind: &str, causes: &mut Causes) {
    const NONE: &str = "may not be set for ExternalName services";
    match kind {
        "LoadBalancer" | "NodePort" if cluster_ips::headless(spec) => {
            let detail = format!("may not be set to 'None' for {kind} services");
            causes.invalid_str(&SPEC.child("clusterIPs").index(0), "None", &detail);
        }
        "ExternalName" => {
            for key in ["clusterIPs", "ipFamilies"] {
                if !spec.list(key).is_empty() {
                    causes.forbidden(&SPEC.child(key), NONE);
                }
            }
            if spec.has("ipFamilyPolicy") {
                causes.forbidden(&SPEC.child("ipFamilyPolicy"), NONE);
            }
            let name = spec.text("externalName");
            let bare = name.strip_suffix('.').unwrap_or(name);
            if bare.is_empty() {
                causes.need(&SPEC.child("externalName"));
            } else {
                causes.format(&SPEC.child("externalName"), bare, name::subdomain);
            }
        }
        _ => {}
    }
}

fn port_of(port: &Value, named: bool, again: bool, at: &Path<'_>, causes: &mut Causes) {
    let own = port.text("name");
    if own.is_empty() {
        if named {
            causes.need(&at.child("name"));
        }
    } else {
        causes.format(&at.child("name"), own, name::label);
        if again {
            causes.duplicate_str(&at.child("name"), own);
        }
    }
    causes.port(&at.child("port"), port.int("port"));
    causes.one_of_required(&at.child("protocol"), port.text("protocol"), &["SCTP", "TCP", "UDP"]);
    pod_template::validate::port(port.get("targetPort"), &at.child("targetPort"), causes);
    if let Some(protocol) = port.opt("appProtocol") {
        causes.format(&at.child("appProtocol"), protocol.as_str().unwrap_or(""), label::key);
    }
}

fn affinity(spec: &Value, causes: &mut Causes) {
    const WHEN: &str = "when session affinity type is ClientIP";
    let at = SPEC.child("sessionAffinityConfig");
    let config = spec.opt("sessionAffinityConfig");
    match (spec.text("sessionAffinity"), config) {
        ("None", Some(_)) => causes.forbidden(&at, "must not be set when session affinity is None"),
        ("ClientIP", None) => causes.required(&at, WHEN),
        ("ClientIP", Some(config)) => {
            let at = at.child("clientIP");
            let Some(client) = config.opt("clientIP") else { return causes.required(&at, WHEN) };
            let at = at.child("timeoutSeconds");
            match client.opt_int("timeoutSeconds") {
                None => causes.required(&at, WHEN),
                Some(s) if !(1..=86400).contains(&s) => {
                    causes.invalid_int(&at, s, "must be greater than 0 and less than 86400");
                }
                Some(_) => {}
            }
        }
        _ => {}
    }
}

fn duplicate_ports(ports: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let duplicates = Duplicates::of(ports, |v| (v.int("nodePort"), v.text("protocol")));
    for (i, port) in ports.iter().enumerate() {
        let node = port.int("nodePort");
        if node != 0 && duplicates.is_repeat(i) {
            causes.duplicate(&path.index(i).child("nodePort"), &Value::Int(node));
        }
    }
    let duplicates = Duplicates::of(ports, |v| (v.int("port"), v.text("protocol")));
    for (i, port) in ports.iter().enumerate() {
        if duplicates.is_repeat(i) {
            // Upstream compares, and so shows, nothing but these two.
            let mut shown = Value::object();
            shown.put("protocol", port.text("protocol"));
            shown.put("port", port.int("port"));
            causes.duplicate_internal(&path.index(i), "core.ServicePort", &shown);
        }
    }
}

fn source_ranges(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let spec = object.field("spec");
    let balancer = spec.text("type") == "LoadBalancer";
    let ranges = spec.list("loadBalancerSourceRanges");
    if !ranges.is_empty() {
        let at = SPEC.child("LoadBalancerSourceRanges");
        if !balancer {
            causes.forbidden(&at, BALANCER);
        }
        let kept = old.map_or(&[][..], |o| o.field("spec").list("loadBalancerSourceRanges"));
        let kept: KeySet<_> = kept.iter().map(Whole).collect();
        for (i, range) in ranges.iter().enumerate() {
            if kept.contains(&Whole(range)) {
                continue;
            }
            causes.format(&at.index(i), range.as_str().unwrap_or("").trim(), ip::cidr_legacy);
        }
    } else if let Some(text) = object.field("metadata").field("annotations").opt(SOURCES) {
        let meta = Path::new("metadata");
        let at = meta.child("annotations");
        let at = at.key(SOURCES);
        if !balancer {
            causes.forbidden(&at, BALANCER);
        }
        if old.is_some_and(|o| o.field("metadata").field("annotations").opt(SOURCES) == Some(text)) {
            return;
        }
        let text = text.as_str().unwrap_or("").trim();
        for range in text.split(',').filter(|_| !text.is_empty()) {
            causes.format(&at, range.trim(), ip::cidr_legacy);
        }
    }
}

fn traffic(spec: &Value, kind: &str, causes: &mut Causes) {
    const POLICIES: [&str; 2] = ["Cluster", "Local"];
    let external =
        matches!(kind, "LoadBalancer" | "NodePort") || (kind == "ClusterIP" && !spec.list("externalIPs").is_empty());
    let (at, policy) = (SPEC.child("externalTrafficPolicy"), spec.text("externalTrafficPolicy"));
    if external {
        causes.one_of_required(&at, policy, &POLICIES);
    } else if !policy.is_empty() {
        causes.invalid_str(&at, policy, "may only be set for externally-accessible services");
    }
    let (at, port) = (SPEC.child("healthCheckNodePort"), spec.int("healthCheckNodePort"));
    if kind == "LoadBalancer" && policy == "Local" {
        // Zero is for the allocator to fill.
        if port != 0 {
            causes.port(&at, port);
        }
    } else if port != 0 {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        causes.invalid_int(&at, port, detail);
    }
    let at = SPEC.child("internalTrafficPolicy");
    match spec.opt("internalTrafficPolicy") {
        Some(policy) => causes.one_of(&at, policy.as_str().unwrap_or(""), &POLICIES),
        None if matches!(kind, "NodePort" | "LoadBalancer" | "ClusterIP") => causes.need(&at),
        None => {}
    }
    if let Some(spread) = spec.opt("trafficDistribution") {
        let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
        causes.one_of(&SPEC.child("trafficDistribution"), spread.as_str().unwrap_or(""), &known);
    }
}

fn balancer_status(object: &Value, old: &Value, causes: &mut Causes) {
    let path = Path::new("status");
    let at = path.child("loadBalancer");
    let (new, before) = (object.field("status").field("loadBalancer"), old.field("status").field("loadBalancer"));
    if object.field("spec").text("type") != "LoadBalancer" && !new.list("ingress").is_empty() {
        return causes.forbidden(&at.child("ingress"), "may only be used when `spec.type` is 'LoadBalancer'");
    }
    balancer(new, before, true, &at, causes);
}
