//! Network policies and ingress classes.

use hydrofoil_types::Value;

use crate::read::{Read, Write};

pub(super) fn network_policy(object: &mut Value) {
    let spec = object.make("spec");
    for rules in ["ingress", "egress"] {
        spec.each(rules, |rule| rule.each("ports", |port| port.unset("protocol", "TCP")));
    }
    if spec.list("policyTypes").is_empty() {
        let mut types = vec![Value::from("Ingress")];
        if !spec.list("egress").is_empty() {
            types.push(Value::from("Egress"));
        }
        spec.put("policyTypes", types);
    }
}

pub(super) fn ingress_class(object: &mut Value) {
    object.within("spec", |s| s.within("parameters", |p| p.unset("scope", "Cluster")));
}
