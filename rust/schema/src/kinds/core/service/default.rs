//! Services.

use hydrofoil_types::Value;

use hydrofoil_types::read::{Read, Write};

/// `SetDefaults_Service`.
pub(crate) fn service(object: &mut Value) {
    let spec = object.make("spec");
    spec.fill("sessionAffinity", "None");
    match spec.text("sessionAffinity") {
        "None" => spec.drop("sessionAffinityConfig"),
        "ClientIP" if spec.field("sessionAffinityConfig").field("clientIP").opt_int("timeoutSeconds").is_none() => {
            let mut client = Value::object();
            client.put("timeoutSeconds", 10_800);
            let mut config = Value::object();
            config.put("clientIP", client);
            spec.put("sessionAffinityConfig", config);
        }
        _ => {}
    }
    spec.fill("type", "ClusterIP");
    spec.each("ports", |port| {
        port.fill("protocol", "TCP");
        if port.zero("targetPort") {
            let number = port.int("port");
            port.put("targetPort", number);
        }
    });
    let kind = spec.text("type");
    let balancer = kind == "LoadBalancer";
    let internal = matches!(kind, "NodePort" | "LoadBalancer" | "ClusterIP");
    let external = balancer || kind == "NodePort" || (kind == "ClusterIP" && !spec.list("externalIPs").is_empty());
    if external {
        spec.fill("externalTrafficPolicy", "Cluster");
    }
    if internal {
        spec.unset("internalTrafficPolicy", "Cluster");
    }
    if balancer {
        spec.unset("allocateLoadBalancerNodePorts", true);
        object.within("status", |s| {
            s.within("loadBalancer", |b| {
                b.each("ingress", |i| {
                    if !i.zero("ip") {
                        i.unset("ipMode", "VIP");
                    }
                });
            });
        });
    }
}
