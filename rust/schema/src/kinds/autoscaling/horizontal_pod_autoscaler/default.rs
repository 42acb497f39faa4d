//! Autoscalers.

use hydrofoil_types::Value;

use hydrofoil_types::read::{Read, Write};

/// `autoscaling/v2`.
pub(super) fn v2(object: &mut Value) {
    let spec = object.make("spec");
    spec.unset("minReplicas", 1);
    if spec.list("metrics").is_empty() {
        let mut target = Value::object();
        target.put("type", "Utilization");
        target.put("averageUtilization", 80);
        let mut resource = Value::object();
        resource.put("name", "cpu");
        resource.put("target", target);
        let mut metric = Value::object();
        metric.put("type", "Resource");
        metric.put("resource", resource);
        spec.put("metrics", vec![metric]);
    }
    spec.within("behavior", |behavior| {
        let up = behavior.make("scaleUp");
        up.unset("stabilizationWindowSeconds", 0);
        rules(up, &[("Pods", 4), ("Percent", 100)]);
        rules(behavior.make("scaleDown"), &[("Percent", 100)]);
    });
}

fn rules(rules: &mut Value, policies: &[(&str, i64)]) {
    rules.unset("selectPolicy", "Max");
    if !rules.has("policies") {
        let list: Vec<Value> = policies
            .iter()
            .map(|(kind, value)| {
                let mut policy = Value::object();
                policy.put("type", *kind);
                policy.put("value", *value);
                policy.put("periodSeconds", 15);
                policy
            })
            .collect();
        rules.put("policies", list);
    }
}
