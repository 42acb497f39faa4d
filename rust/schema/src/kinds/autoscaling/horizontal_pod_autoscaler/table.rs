//! Autoscalers and the scale subresource.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::Value;

use hydrofoil_rules::table::text::plain;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::Read;

/// The text of `%s` for a nil quantity or an absent number.
const UNKNOWN: &str = "<unknown>";

/// `printHorizontalPodAutoscaler`.
pub(super) fn autoscaler(subject: &Subject<'_>) -> Vec<Value> {
    let spec = subject.spec();
    let target = spec.field("scaleTargetRef");
    cells![
        subject.name(),
        format!("{}/{}", target.text("kind"), target.text("name")),
        metrics(spec.list("metrics"), subject.status().list("currentMetrics")),
        spec.opt_int("minReplicas").map_or_else(|| "<unset>".to_owned(), |n| n.to_string()),
        spec.int("maxReplicas"),
        subject.status().int("currentReplicas"),
        subject.age(),
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
    let field = match spec.text("type") {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let source = spec.field(field);
    let target = source.field("target");
    let current = status.and_then(|s| s.opt(field)).map(|s| s.field("current"));
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
            let name = source.text("name");
            format!("{name}: {}/{}", reading(current, "averageValue"), quantity(target, "averageValue"))
        }
        _ => {
            let percent = |of: &Value| of.opt_int("averageUtilization").map(|n| format!("{n}%"));
            let now = current.and_then(percent).unwrap_or_else(|| UNKNOWN.to_owned());
            let wanted = percent(target).unwrap_or_else(|| "<auto>".to_owned());
            format!("{}: {now}/{wanted}", source.text("name"))
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
