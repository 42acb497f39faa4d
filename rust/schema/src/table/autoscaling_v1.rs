//! Autoscalers of version 1, which keeps most metrics in annotations (`pkg/apis/autoscaling/v1/conversion.go`).

use hydrofoil_types::{Map, Quantity, Value};

use super::subject::Subject;
use super::{annotation, autoscaling};
use crate::read::Read;

/// `printHorizontalPodAutoscaler` after the conversion that upstream does before it.
pub(super) fn autoscaler(of: &Subject<'_>) -> Vec<Value> {
    let parsed = |key| of.annotation(key).and_then(annotation::parse).filter(|v| v.as_array().is_some());
    let mut specs = Vec::new();
    if let Some(list) = parsed("autoscaling.alpha.kubernetes.io/metrics") {
        specs.extend(list.as_array().unwrap_or(&[]).iter().map(spec));
    }
    if let Some(percent) = of.spec().oi("targetCPUUtilizationPercentage") {
        specs.push(cpu("target", percent));
    }
    if specs.is_empty() {
        specs.push(cpu("target", 80));
    }
    let statuses: Vec<_> = match parsed("autoscaling.alpha.kubernetes.io/current-metrics") {
        Some(list) => list.as_array().unwrap_or(&[]).iter().map(status).collect(),
        None => of.status().oi("currentCPUUtilizationPercentage").map(|n| cpu("current", n)).into_iter().collect(),
    };
    autoscaling::with_metrics(of, &specs, &statuses)
}

fn cpu(side: &str, percent: i64) -> Value {
    let mut values = Map::new();
    values.push("averageUtilization", percent);
    wrap("Resource", "resource", "cpu", side, values)
}

/// A metric of one source with its target or its current values.
fn wrap(kind: &str, field: &str, name: &str, side: &str, values: Map) -> Value {
    let mut source = Map::new();
    source.push("name", name);
    source.push(side, values);
    let mut metric = Map::new();
    metric.push("type", kind);
    metric.push(field, source);
    Value::Object(metric)
}

fn spec(old: &Value) -> Value {
    convert(old, "target", |field, source, values| match field {
        "external" => {
            copy(source, "targetValue", values, "value");
            copy(source, "targetAverageValue", values, "averageValue");
        }
        "object" => {
            copy(source, "averageValue", values, "averageValue");
            values.push("value", quantity(source, "targetValue"));
        }
        "pods" => values.push("averageValue", quantity(source, "targetAverageValue")),
        _ => {
            copy(source, "targetAverageValue", values, "averageValue");
            percent(source, "targetAverageUtilization", values);
        }
    })
}

fn status(old: &Value) -> Value {
    convert(old, "current", |field, source, values| match field {
        "external" => {
            values.push("value", quantity(source, "currentValue"));
            copy(source, "currentAverageValue", values, "averageValue");
        }
        "object" => {
            values.push("value", quantity(source, "currentValue"));
            copy(source, "averageValue", values, "averageValue");
        }
        "pods" => values.push("averageValue", quantity(source, "currentAverageValue")),
        _ => {
            values.push("averageValue", quantity(source, "currentAverageValue"));
            percent(source, "currentAverageUtilization", values);
        }
    })
}

fn convert(old: &Value, side: &str, fill: impl Fn(&str, &Value, &mut Map)) -> Value {
    let field = ["external", "object", "pods", "resource", "containerResource"].into_iter().find(|f| old.has(f));
    let mut values = Map::new();
    let field = field.unwrap_or("");
    let source = old.sub(field);
    fill(field, source, &mut values);
    wrap(old.s("type"), field, source.s("name"), side, values)
}

/// A quantity that is not a pointer.
fn quantity(of: &Value, key: &str) -> String {
    let text = of.opt(key).map_or_else(String::new, super::text::plain);
    Quantity::parse(&text).map_or_else(|_| "0".to_owned(), |q| q.to_string())
}

fn copy(from: &Value, key: &str, to: &mut Map, name: &str) {
    if from.has(key) {
        to.push(name, quantity(from, key));
    }
}

fn percent(from: &Value, key: &str, to: &mut Map) {
    if let Some(n) = from.oi(key) {
        to.push("averageUtilization", n);
    }
}
