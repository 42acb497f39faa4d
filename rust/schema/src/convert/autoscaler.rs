//! Autoscalers between `autoscaling/v2`, in which they are stored, and `autoscaling/v1`, which keeps what it has no field
//! for in annotations (`pkg/apis/autoscaling/v1/conversion.go`).

use hydrofoil_types::{Map, Timestamp, Value, notation};

use super::metric::{self, amount, field, fill, items, number, text};
use crate::read::{Read, Write};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const TOLERANCE_DOWN: &str = "autoscaling.alpha.kubernetes.io/scale-down-tolerance";
const TOLERANCE_UP: &str = "autoscaling.alpha.kubernetes.io/scale-up-tolerance";
/// The utilization that is aimed at by default, in percent.
const DEFAULT: i64 = 80;

/// A v1 object as version 2 has it, without the defaults of version 2. Annotations that Go could not read count for
/// nothing.
pub(crate) fn up(object: &mut Value) {
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
    metrics.extend(spec.oi("targetCPUUtilizationPercentage").map(|percent| cpu("target", percent)));
    if metrics.is_empty() {
        metrics.push(cpu("target", DEFAULT));
    }
    spec.drop("targetCPUUtilizationPercentage");
    spec.put("metrics", metrics);
    fill(spec, "behavior", behavior);

    let seen = object.sub("status").oi("currentCPUUtilizationPercentage");
    let current = current.unwrap_or_else(|| seen.map(|percent| cpu("current", percent)).into_iter().collect());
    object.within("status", |status| status.drop("currentCPUUtilizationPercentage"));
    for (name, list) in [("currentMetrics", current), ("conditions", conditions.unwrap_or_default())] {
        if !list.is_empty() {
            object.make("status").put(name, list);
        }
    }
}

/// A v2 object as version 1 has it.
pub(super) fn down(object: &mut Value) {
    drop_annotations(object);
    let is_cpu = |metric: &Value, side: &str| {
        let percent = metric.int_at(&["resource", side, "averageUtilization"])?;
        (metric.s("type") == "Resource" && metric.str_at(&["resource", "name"]) == "cpu").then_some(percent)
    };
    let spec = object.sub("spec");
    let metrics = spec.list("metrics");
    let target = metrics.iter().find_map(|m| is_cpu(m, "target"));
    let others = metrics.iter().filter(|m| is_cpu(m, "target").is_none()).map(|m| metric::down(&metric::SPEC, m));
    let others: Vec<_> = others.collect();
    let behavior = spec.opt("behavior").map(behavior_down);
    let status = object.sub("status");
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

/// Takes out what only tells versions of each other (`DropRoundTripHorizontalPodAutoscalerAnnotations`).
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

/// The CPU metric of a target or of a status.
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
    out.push("type", given.s("type"));
    out.push("status", given.s("status"));
    out.push("lastTransitionTime", given.sub("lastTransitionTime").clone());
    for key in ["reason", "message"] {
        if !given.zero(key) {
            out.push(key, given.s(key));
        }
    }
    Value::Object(out)
}

/// The annotation holds the internal type, whose members have the names of its fields and are never left out.
fn behavior_down(behavior: &Value) -> Value {
    let mut out = Map::new();
    for (name, key) in [("ScaleUp", "scaleUp"), ("ScaleDown", "scaleDown")] {
        let rules = behavior.opt(key).map(|given| {
            let policies = given.opt("policies").and_then(Value::as_array).map(|list| {
                let policy = |given: &Value| {
                    let mut out = Map::new();
                    out.push("Type", given.s("type"));
                    out.push("Value", given.i("value"));
                    out.push("PeriodSeconds", given.i("periodSeconds"));
                    Value::Object(out)
                };
                list.iter().map(policy).collect::<Vec<_>>()
            });
            let mut out = Map::new();
            out.push("StabilizationWindowSeconds", given.sub("stabilizationWindowSeconds").clone());
            out.push("SelectPolicy", given.sub("selectPolicy").clone());
            out.push("Policies", policies.map_or(Value::Null, Value::from));
            out.push("Tolerance", given.sub("tolerance").clone());
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
