//! Conversion between `autoscaling/v2`, in which autoscalers are stored, and `autoscaling/v1`, which keeps the other
//! fields in annotations (`pkg/apis/autoscaling/v1/conversion.go`).

use hydrofoil_types::{Map, Timestamp, Value, notation};

use super::metric::{self, amount, field, fill, items, number, text};
use hydrofoil_types::read::{Read, Write};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const TOLERANCE_DOWN: &str = "autoscaling.alpha.kubernetes.io/scale-down-tolerance";
const TOLERANCE_UP: &str = "autoscaling.alpha.kubernetes.io/scale-up-tolerance";
/// The default target of the utilization, in percent.
const DEFAULT: i64 = 80;

/// Convert a v1 object to v2, without the defaults of v2. Annotations that Go could not read count for
/// nothing.
pub(super) fn up(object: &mut Value) {
    let noted = |name: &str| notation::parse(object.str_at(&["metadata", "annotations", name]));
    let list = |name: &str, read: &dyn Fn(&Value) -> Option<Value>| {
        items(&noted(name)?)?.iter().map(read).collect::<Option<Vec<_>>>()
    };
    let metrics = list(METRICS, &|m| metric::up(&metric::SPEC, m));
    let current = list(CURRENT, &|m| metric::up(&metric::STATUS, m));
    let conditions = list(CONDITIONS, &condition);
    let behavior = noted(BEHAVIOR).and_then(|b| behavior_up(&b)).filter(|b| !b.is_zero());
    drop_annotations(object);

    let spec = object.make("spec");
    let mut metrics = metrics.unwrap_or_default();
    metrics.extend(spec.opt_int("targetCPUUtilizationPercentage").map(|percent| cpu("target", percent)));
    if metrics.is_empty() {
        metrics.push(cpu("target", DEFAULT));
    }
    spec.drop("targetCPUUtilizationPercentage");
    spec.put("metrics", metrics);
    fill(spec, "behavior", behavior);

    let seen = object.field("status").opt_int("currentCPUUtilizationPercentage");
    let current = current.unwrap_or_else(|| seen.map(|percent| cpu("current", percent)).into_iter().collect());
    object.within("status", |status| status.drop("currentCPUUtilizationPercentage"));
    for (name, list) in [("currentMetrics", current), ("conditions", conditions.unwrap_or_default())] {
        if !list.is_empty() {
            object.make("status").put(name, list);
        }
    }
}

/// Convert a v2 object to v1.
pub(super) fn down(object: &mut Value) {
    drop_annotations(object);
    let is_cpu = |metric: &Value, side: &str| {
        let percent = metric.int_at(&["resource", side, "averageUtilization"])?;
        (metric.text("type") == "Resource" && metric.str_at(&["resource", "name"]) == "cpu").then_some(percent)
    };
    let spec = object.field("spec");
    let metrics = spec.list("metrics");
    let target = metrics.iter().find_map(|m| is_cpu(m, "target"));
    let others = metrics.iter().filter(|m| is_cpu(m, "target").is_none()).map(|m| metric::down(&metric::SPEC, m));
    let others: Vec<_> = others.collect();
    let behavior = spec.opt("behavior").map(behavior_down);
    let status = object.field("status");
    let current: Vec<_> = status.list("currentMetrics").iter().map(|m| metric::down(&metric::STATUS, m)).collect();
    let seen = status.list("currentMetrics").iter().rev().find_map(|m| is_cpu(m, "current"));
    let conditions: Vec<_> = status.list("conditions").iter().map(condition_down).collect();

    object.within("spec", |spec| {
        spec.drop("metrics");
        spec.drop("behavior");
        fill(spec, "targetCPUUtilizationPercentage", target.map(Value::Int));
    });
    object.within("status", |status| {
        status.drop("currentMetrics");
        status.drop("conditions");
        fill(status, "currentCPUUtilizationPercentage", seen.map(Value::Int));
    });
    let lists = [(METRICS, others), (CURRENT, current), (CONDITIONS, conditions)];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| (name, Value::Array(list)));
    for (name, value) in lists.chain(behavior.map(|b| (BEHAVIOR, b))) {
        object.object_at_mut(&["metadata", "annotations"]).set(name, value.to_json());
    }
    if let Some(annotations) = object.object_at_mut(&["metadata"]).get_mut("annotations").and_then(Value::as_object_mut)
    {
        annotations.sort_keys();
    }
}

/// Remove the annotations of round trips (`DropRoundTripHorizontalPodAutoscalerAnnotations`).
pub(super) fn drop_annotations(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    for name in [METRICS, CURRENT, CONDITIONS, BEHAVIOR, TOLERANCE_DOWN, TOLERANCE_UP] {
        annotations.remove(name);
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// Return the CPU metric of a target or of a status.
fn cpu(side: &str, percent: i64) -> Value {
    let mut values = Map::new();
    if side == "target" {
        values.push("type", "Utilization");
    }
    values.push("averageUtilization", percent);
    let mut resource = Map::new();
    resource.push("name", "cpu");
    resource.push(side, values);
    let mut metric = Map::new();
    metric.push("type", "Resource");
    metric.push("resource", resource);
    Value::Object(metric)
}

fn condition(given: &Value) -> Option<Value> {
    let mut out = Value::object();
    for key in ["type", "status", "reason", "message"] {
        fill(&mut out, key, text(field(given, key)?)?);
    }
    match field(given, "lastTransitionTime")? {
        Value::Null => {}
        Value::Str(time) => out.put("lastTransitionTime", Timestamp::parse(time)?.rfc3339()),
        _ => return None,
    }
    Some(out)
}

fn condition_down(given: &Value) -> Value {
    let mut out = Map::new();
    out.push("type", given.text("type"));
    out.push("status", given.text("status"));
    out.push("lastTransitionTime", given.field("lastTransitionTime").clone());
    for key in ["reason", "message"] {
        if !given.zero(key) {
            out.push(key, given.text(key));
        }
    }
    Value::Object(out)
}

/// Return the value of the annotation: the internal type, whose members have Go's field names and are never left out.
fn behavior_down(behavior: &Value) -> Value {
    let mut out = Map::new();
    for (name, key) in [("ScaleUp", "scaleUp"), ("ScaleDown", "scaleDown")] {
        let rules = behavior.opt(key).map(|given| {
            let policies = given.opt("policies").and_then(Value::as_array).map(|list| {
                let policy = |given: &Value| {
                    let mut out = Map::new();
                    out.push("Type", given.text("type"));
                    out.push("Value", given.int("value"));
                    out.push("PeriodSeconds", given.int("periodSeconds"));
                    Value::Object(out)
                };
                list.iter().map(policy).collect::<Vec<_>>()
            });
            let mut out = Map::new();
            out.push("StabilizationWindowSeconds", given.field("stabilizationWindowSeconds").clone());
            out.push("SelectPolicy", given.field("selectPolicy").clone());
            out.push("Policies", policies.map_or(Value::Null, Value::from));
            out.push("Tolerance", given.field("tolerance").clone());
            Value::Object(out)
        });
        out.push(name, rules.unwrap_or(Value::Null));
    }
    Value::Object(out)
}

fn behavior_up(given: &Value) -> Option<Value> {
    let mut out = Value::object();
    for key in ["scaleUp", "scaleDown"] {
        let rules = field(given, key)?;
        if *rules == Value::Null {
            continue;
        }
        let mut made = Value::object();
        fill(&mut made, "stabilizationWindowSeconds", number(field(rules, "stabilizationWindowSeconds")?)?);
        match field(rules, "selectPolicy")? {
            Value::Null => {}
            policy @ Value::Str(_) => made.put("selectPolicy", policy.clone()),
            _ => return None,
        }
        fill(&mut made, "tolerance", amount(field(rules, "tolerance")?)?);
        let policies = field(rules, "policies")?;
        if *policies != Value::Null {
            let policy = |given: &Value| {
                let mut out = Value::object();
                fill(&mut out, "type", text(field(given, "type")?)?);
                fill(&mut out, "value", number(field(given, "value")?)?);
                fill(&mut out, "periodSeconds", number(field(given, "periodSeconds")?)?);
                Some(out)
            };
            made.put("policies", policies.as_array()?.iter().map(policy).collect::<Option<Vec<_>>>()?);
        }
        out.put(key, made);
    }
    Some(out)
}
