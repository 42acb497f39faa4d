//! Between the version in which a kind is stored and the others in which it is served.

use hydrofoil_types::{Map, Value};

/// What decoding itself does to some kinds (`conversion.go` of their versions): write-only fields are moved.
pub fn after_decode(group: &str, kind: &str, object: &mut Value) {
    if (group, kind) == ("", "Secret") {
        string_data(object);
    }
}

/// `stringData` of a Secret goes into `data`.
fn string_data(object: &mut Value) {
    let Some(Value::Object(given)) = object.as_object_mut().and_then(|m| m.remove("stringData")) else { return };
    let data = object.object_at_mut(&["data"]);
    for (key, value) in given {
        let text = value.as_str().unwrap_or("");
        data.set(key, base64(text.as_bytes()));
    }
    data.sort_keys();
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Members of `events.k8s.io` and what they are called in the core group.
const EVENT: [(&str, &str); 6] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// An object of a served version as its kind is stored.
pub fn to_storage(group: &str, version: &str, kind: &str, mut object: Value) -> Value {
    match (group, version, kind) {
        ("events.k8s.io", _, "Event") => rename(&mut object, EVENT.iter().map(|(new, old)| (*new, *old))),
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => autoscaler_up(&mut object),
        _ => {}
    }
    object
}

/// A stored object as a served version shows it.
pub fn from_storage(group: &str, version: &str, kind: &str, mut object: Value) -> Value {
    match (group, version, kind) {
        ("events.k8s.io", _, "Event") => rename(&mut object, EVENT.iter().map(|(new, old)| (*old, *new))),
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => autoscaler_down(&mut object),
        _ => {}
    }
    object
}

fn rename<'a>(object: &mut Value, names: impl Iterator<Item = (&'a str, &'a str)>) {
    let Some(map) = object.as_object_mut() else { return };
    for (from, to) in names {
        if let Some(value) = map.remove(from) {
            map.set(to, value);
        }
    }
    for both in [("reportingController", "reportingComponent"), ("reportingComponent", "reportingController")] {
        // Either name stands in its own version only; the schema of the other drops it.
        if let Some(value) = map.get(both.0).cloned().filter(|_| !map.contains_key(both.1)) {
            map.set(both.1, value);
        }
    }
}

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// `autoscaling/v1` keeps what it has no field for in annotations.
fn autoscaler_up(object: &mut Value) {
    let target = object.int_at(&["spec", "targetCPUUtilizationPercentage"]);
    let current = object.int_at(&["status", "currentCPUUtilizationPercentage"]);
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("targetCPUUtilizationPercentage");
        if let Some(target) = target {
            spec.set("metrics", vec![cpu("target", target)]);
        }
    }
    if let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) {
        status.remove("currentCPUUtilizationPercentage");
        if let Some(current) = current {
            status.set("currentMetrics", vec![cpu("current", current)]);
        }
    }
}

/// The CPU metric of a target or of a status.
fn cpu(what: &str, percent: i64) -> Value {
    let mut target = Map::new();
    if what == "target" {
        target.push("type", "Utilization");
    }
    target.push("averageUtilization", percent);
    let mut resource = Map::new();
    resource.push("name", "cpu");
    resource.push(what, target);
    let mut metric = Map::new();
    metric.push("type", "Resource");
    metric.push("resource", resource);
    Value::Object(metric)
}

fn autoscaler_down(object: &mut Value) {
    let (target, other) = split(object.list_at(&["spec", "metrics"]), "target");
    let (current, other_current) = split(object.list_at(&["status", "currentMetrics"]), "current");
    let conditions = object.list_at(&["status", "conditions"]).to_vec();
    let behavior = object.at(&["spec", "behavior"]).cloned();
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("metrics");
        spec.remove("behavior");
        if let Some(target) = target {
            spec.set("targetCPUUtilizationPercentage", target);
        }
    }
    if let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) {
        status.remove("currentMetrics");
        status.remove("conditions");
        if let Some(current) = current {
            status.set("currentCPUUtilizationPercentage", current);
        }
    }
    let kept = [(METRICS, other), (CURRENT, other_current), (CONDITIONS, conditions)];
    for (name, list) in kept {
        if !list.is_empty() {
            annotate(object, name, &Value::Array(list));
        }
    }
    if let Some(behavior) = behavior {
        annotate(object, BEHAVIOR, &behavior);
    }
}

fn annotate(object: &mut Value, name: &str, value: &Value) {
    let text = value.to_json();
    object.object_at_mut(&["metadata", "annotations"]).set(name, text);
}

/// The CPU utilization of a list of metrics, and the metrics that `autoscaling/v1` has no field for.
fn split(metrics: &[Value], what: &str) -> (Option<i64>, Vec<Value>) {
    let mut cpu = None;
    let mut other = Vec::new();
    for metric in metrics {
        let percent = metric.int_at(&["resource", what, "averageUtilization"]);
        if metric.str_at(&["resource", "name"]) == "cpu" && percent.is_some() && cpu.is_none() {
            cpu = percent;
        } else {
            other.push(metric.clone());
        }
    }
    (cpu, other)
}
