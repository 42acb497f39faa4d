//! Autoscalers and the scale subresource.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::Value;

use super::column;
use super::default::{CREATED, NAME};
use super::subject::Subject;
use super::text::plain;
use crate::read::Read;

/// What `%s` of a nil quantity or an absent number shows.
const UNKNOWN: &str = "<unknown>";

/// `printHorizontalPodAutoscaler`.
pub(super) fn autoscaler(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    let target = spec.sub("scaleTargetRef");
    cells![
        of.name(),
        format!("{}/{}", target.s("kind"), target.s("name")),
        metrics(spec.list("metrics"), of.status().list("currentMetrics")),
        spec.oi("minReplicas").map_or_else(|| "<unset>".to_owned(), |n| n.to_string()),
        spec.i("maxReplicas"),
        of.status().i("currentReplicas"),
        of.age(),
    ]
}

/// `formatHPAMetrics`: two metrics, and how many follow.
fn metrics(specs: &[Value], statuses: &[Value]) -> String {
    const SHOWN: usize = 2;
    if specs.is_empty() {
        return "<none>".to_owned();
    }
    let text = specs
        .iter()
        .take(SHOWN)
        .enumerate()
        .map(|(i, spec)| metric(spec, statuses.get(i)))
        .collect::<Vec<_>>()
        .join(", ");
    if specs.len() > SHOWN { format!("{text} + {} more...", specs.len() - SHOWN) } else { text }
}

fn metric(spec: &Value, status: Option<&Value>) -> String {
    let field = match spec.s("type") {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let source = spec.sub(field);
    let target = source.sub("target");
    let current = status.and_then(|s| s.opt(field)).map(|s| s.sub("current"));
    let average = target.has("averageValue");
    match field {
        "pods" => format!("{}/{}", reading(current, "averageValue"), quantity(target, "averageValue")),
        "external" | "object" if average => {
            // Here alone a status without the value counts as no status.
            let current = current.filter(|c| c.has("averageValue"));
            format!("{}/{} (avg)", reading(current, "averageValue"), quantity(target, "averageValue"))
        }
        "external" | "object" => format!("{}/{}", reading(current, "value"), quantity(target, "value")),
        _ if average => {
            let name = source.s("name");
            format!("{name}: {}/{}", reading(current, "averageValue"), quantity(target, "averageValue"))
        }
        _ => {
            let percent = |of: &Value| of.oi("averageUtilization").map(|n| format!("{n}%"));
            let now = current.and_then(percent).unwrap_or_else(|| UNKNOWN.to_owned());
            let wanted = percent(target).unwrap_or_else(|| "<auto>".to_owned());
            format!("{}: {now}/{wanted}", source.s("name"))
        }
    }
}

fn reading(current: Option<&Value>, key: &str) -> String {
    current.map_or_else(|| UNKNOWN.to_owned(), |c| quantity(c, key))
}

/// `Quantity.String` of a pointer.
fn quantity(of: &Value, key: &str) -> String {
    of.opt(key).map_or_else(|| "<nil>".to_owned(), plain)
}

/// `printScale`.
pub(super) fn scale(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), of.spec().i("replicas"), of.status().i("replicas"), of.age()]
}

/// The columns of `printScale`; scales are not stored, so that the catalog has none.
pub(super) fn scale_columns() -> Vec<Value> {
    vec![
        column("Name", "string", "", NAME, 0),
        column("Desired", "integer", "", "replicas is the desired number of instances for the scaled object.", 0),
        column(
            "Available",
            "integer",
            "",
            "replicas is the actual number of observed instances of the scaled object.",
            0,
        ),
        column("Age", "string", "", CREATED, 0),
    ]
}
