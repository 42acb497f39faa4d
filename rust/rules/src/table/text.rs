//! Pieces of text that several kinds share.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::Value;

use super::subject::Subject;
use hydrofoil_types::read::Read;

/// Return a row that shows only the name and the age of the object.
pub fn name_and_age(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), subject.age()]
}

/// Return the text, or another one when it is empty.
pub fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

/// Return the target of a pointer to a string, or another text when it is nil.
pub fn deref<'a>(value: &'a Value, key: &str, nil: &'a str) -> &'a str {
    match value.opt(key) {
        Some(text) => text.as_str().unwrap_or(""),
        None => nil,
    }
}

/// Return the text of a number or string, as `IntOrString.String` and the like do.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Str(s) => s.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Float(f) => f.to_string(),
        _ => String::new(),
    }
}

/// `Quantity.String` of a plain field, which is zero when it is absent.
pub fn quantity(value: &Value, key: &str) -> String {
    value.opt(key).map(plain).filter(|q| !q.is_empty()).unwrap_or_else(|| "0".to_owned())
}

/// Return the texts of a list field, joined.
pub fn join(list: &[Value], between: &str) -> String {
    list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(between)
}

/// `listWithMoreString`: the first three items, and how many follow.
pub fn first_three<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    const SHOWN: usize = 3;
    let mut out = String::new();
    let mut count = 0;
    for item in items {
        if count < SHOWN {
            out.push_str(if count == 0 { "" } else { "," });
            out.push_str(item.as_ref());
        }
        count += 1;
    }
    if count > SHOWN {
        return format!("{out} + {} more...", count - SHOWN);
    }
    if out.is_empty() { "<unset>".to_owned() } else { out }
}

/// `layoutContainerCells`: the names and the images of the containers of a pod spec.
pub fn containers(spec: &Value) -> (String, String) {
    let list = spec.list("containers");
    let each = |key| list.iter().map(|c| c.text(key)).collect::<Vec<_>>().join(",");
    (each("name"), each("image"))
}

/// `strings.ToLower`, which unlike Rust's converts one letter at a time.
pub fn lower(text: &str) -> String {
    text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect()
}

/// `GroupResource.String` and `GroupKind.String`.
pub fn group_resource(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

/// Return the condition of a type.
pub fn condition<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    status.list("conditions").iter().find(|c| c.text("type") == kind)
}

/// Return the names of load balancers, each once and in order (`loadBalancerStatusStringer`).
pub fn balancer(status: &Value) -> String {
    let mut names: Vec<_> = status
        .field("loadBalancer")
        .list("ingress")
        .iter()
        .map(|i| or(i.text("ip"), i.text("hostname")))
        .filter(|n| !n.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.join(",")
}

/// Return how many of the desired replicas are ready.
pub fn ready(subject: &Subject<'_>) -> String {
    format!("{}/{}", subject.status().int("readyReplicas"), subject.spec().int("replicas"))
}
