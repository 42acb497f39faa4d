//! Services (`pkg/registry/core/service/{strategy,storage/storage}.go`).

use hydrofoil_types::{Lookup, SmolStr, Value};

use hydrofoil_types::read::{Read, Write};

/// `PrepareForCreate`.
pub(crate) fn create(object: &mut Value) {
    object.within("spec", |spec| {
        drop_policy(spec);
    });
}

/// Drop the policy of a service that is a name alone (`defaultOnReadInternalTrafficPolicy`). Upstream does so when it
/// reads the service: an unknown one is refused before.
fn drop_policy(spec: &mut Value) {
    if spec.text("type") == "ExternalName" && matches!(spec.text("internalTrafficPolicy"), "Cluster" | "Local") {
        spec.drop("internalTrafficPolicy");
    }
}

fn addressed(kind: &str) -> bool {
    kind != "ExternalName"
}

fn ported(kind: &str) -> bool {
    matches!(kind, "NodePort" | "LoadBalancer")
}

fn checked(spec: &Value) -> bool {
    spec.text("type") == "LoadBalancer" && spec.text("externalTrafficPolicy") == "Local"
}

/// `patchAllocatedValues`, `normalizeClusterIPs`: allocated values are kept while they are needed.
pub(crate) fn patch_allocated_values(object: &mut Value, old: &Value) {
    let before = old.field("spec");
    let spec = object.make("spec");
    let (now, then) = (spec.text("type").to_owned(), before.text("type"));
    if addressed(&now) && addressed(then) {
        // An update that clears the address also clears the list that contains it (`normalizeClusterIPs`).
        if spec.zero("clusterIP") && (spec.zero("clusterIPs") || spec.field("clusterIPs") == before.field("clusterIPs"))
        {
            spec.copy_from(before, "clusterIP");
            spec.copy_from(before, "clusterIPs");
        } else if spec.zero("clusterIPs") && spec.text("clusterIP") == before.text("clusterIP") {
            spec.copy_from(before, "clusterIPs");
        } else if !spec.zero("clusterIP")
            && spec.text("clusterIP") != before.text("clusterIP")
            && spec.field("clusterIPs") == before.field("clusterIPs")
        {
            let first = Value::from(spec.text("clusterIP"));
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
        let old = Lookup::of(before.list("ports"), |o| (o.int("port"), SmolStr::new(o.text("protocol"))));
        spec.each("ports", |port| {
            if port.int("nodePort") == 0 {
                let known =
                    old.first(&(port.int("port"), SmolStr::new(port.text("protocol")))).map(|o| o.int("nodePort"));
                if let Some(number) = known.filter(|n| *n != 0) {
                    port.put("nodePort", number);
                }
            }
        });
    }
    if checked(before) && checked(spec) && spec.int("healthCheckNodePort") == 0 {
        spec.copy_from(before, "healthCheckNodePort");
    }
}

/// `dropTypeDependentFields`: allocated values are removed with a type that does not use them unless changed on
/// purpose.
pub(crate) fn update(object: &mut Value, old: &Value) {
    let before = old.field("spec");
    let spec = object.make("spec");
    let (now, then) = (spec.text("type").to_owned(), before.text("type"));
    if addressed(then) && !addressed(&now) {
        for keys in [&["clusterIP", "clusterIPs"][..], &["ipFamilies"], &["ipFamilyPolicy"]] {
            // An address that the client changed stays, and is refused with its list.
            if keys.iter().all(|key| spec.field(key) == before.field(key)) {
                for key in keys {
                    spec.drop(key);
                }
            }
        }
    }
    if ported(then) && !ported(&now) {
        let nodes = Lookup::of(before.list("ports"), |o| o.int("nodePort"));
        if spec.list("ports").iter().all(|p| p.int("nodePort") == 0 || nodes.has(&p.int("nodePort"))) {
            spec.each("ports", |port| port.drop("nodePort"));
        }
    }
    if checked(before) && !checked(spec) && spec.int("healthCheckNodePort") == before.int("healthCheckNodePort") {
        spec.drop("healthCheckNodePort");
    }
    if then == "LoadBalancer" && now != "LoadBalancer" {
        for key in ["loadBalancerClass", "allocateLoadBalancerNodePorts"] {
            if spec.field(key) == before.field(key) {
                spec.drop(key);
            }
        }
    }
    let external = ported(&now) || (now == "ClusterIP" && !spec.list("externalIPs").is_empty());
    if !external && spec.text("externalTrafficPolicy") == before.text("externalTrafficPolicy") {
        spec.drop("externalTrafficPolicy");
    }
    drop_policy(spec);
}
