//! Services (`pkg/registry/core/service/{strategy,storage/storage}.go`).

use hydrofoil_types::{Lookup, SmolStr, Value};

use crate::read::{Read, Write};

pub(super) fn create(object: &mut Value) {
    object.within("spec", |spec| {
        if spec.s("type") == "ExternalName" {
            spec.drop("internalTrafficPolicy");
        }
    });
}

fn addressed(kind: &str) -> bool {
    kind != "ExternalName"
}

fn ported(kind: &str) -> bool {
    matches!(kind, "NodePort" | "LoadBalancer")
}

fn checked(spec: &Value) -> bool {
    spec.s("type") == "LoadBalancer" && spec.s("externalTrafficPolicy") == "Local"
}

/// `patchAllocatedValues`, `normalizeClusterIPs`: what was allocated is kept while it is needed.
pub(super) fn allocated(object: &mut Value, old: &Value) {
    let before = old.sub("spec");
    let spec = object.make("spec");
    let (now, then) = (spec.s("type").to_owned(), before.s("type"));
    if addressed(&now) && addressed(then) {
        // Who clears the address clears the list that it stands in (`normalizeClusterIPs`).
        if spec.zero("clusterIP") && (spec.zero("clusterIPs") || spec.sub("clusterIPs") == before.sub("clusterIPs")) {
            spec.copy_from(before, "clusterIP");
            spec.copy_from(before, "clusterIPs");
        } else if spec.zero("clusterIPs") && spec.s("clusterIP") == before.s("clusterIP") {
            spec.copy_from(before, "clusterIPs");
        } else if !spec.zero("clusterIP")
            && spec.s("clusterIP") != before.s("clusterIP")
            && spec.sub("clusterIPs") == before.sub("clusterIPs")
        {
            let first = Value::from(spec.s("clusterIP"));
            spec.put("clusterIPs", vec![first]);
        }
        if spec.zero("ipFamilies") {
            spec.copy_from(before, "ipFamilies");
        }
        if !spec.has("ipFamilyPolicy") {
            spec.copy_from(before, "ipFamilyPolicy");
        }
    }
    if ported(&now) && ported(then) {
        let old = Lookup::of(before.list("ports"), |o| (o.i("port"), SmolStr::new(o.s("protocol"))));
        spec.each("ports", |port| {
            if port.i("nodePort") == 0 {
                let known = old.first(&(port.i("port"), SmolStr::new(port.s("protocol")))).map(|o| o.i("nodePort"));
                if let Some(number) = known.filter(|n| *n != 0) {
                    port.put("nodePort", number);
                }
            }
        });
    }
    if checked(before) && checked(spec) && spec.i("healthCheckNodePort") == 0 {
        spec.copy_from(before, "healthCheckNodePort");
    }
}

/// `dropTypeDependentFields`: what was allocated goes with a type that does not take it unless it was changed on
/// purpose.
pub(super) fn update(object: &mut Value, old: &Value) {
    let before = old.sub("spec");
    let spec = object.make("spec");
    let (now, then) = (spec.s("type").to_owned(), before.s("type"));
    if addressed(then) && !addressed(&now) {
        for key in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            if spec.sub(key) == before.sub(key) {
                spec.drop(key);
            }
        }
    }
    if ported(then) && !ported(&now) {
        let nodes = Lookup::of(before.list("ports"), |o| o.i("nodePort"));
        if spec.list("ports").iter().all(|p| p.i("nodePort") == 0 || nodes.has(&p.i("nodePort"))) {
            spec.each("ports", |port| port.drop("nodePort"));
        }
    }
    if checked(before) && !checked(spec) && spec.i("healthCheckNodePort") == before.i("healthCheckNodePort") {
        spec.drop("healthCheckNodePort");
    }
    if then == "LoadBalancer" && now != "LoadBalancer" {
        for key in ["loadBalancerClass", "allocateLoadBalancerNodePorts"] {
            if spec.sub(key) == before.sub(key) {
                spec.drop(key);
            }
        }
    }
    let external = ported(&now) || (now == "ClusterIP" && !spec.list("externalIPs").is_empty());
    if !external && spec.s("externalTrafficPolicy") == before.s("externalTrafficPolicy") {
        spec.drop("externalTrafficPolicy");
    }
    if now == "ExternalName" {
        spec.drop("internalTrafficPolicy");
    }
}
