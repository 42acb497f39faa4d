//! Pieces of text that several kinds share.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::Value;

use super::subject::Subject;
use crate::read::Read;

/// Rows that say nothing but how old the object is.
pub(super) fn name_and_age(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), of.age()]
}

/// The text, or another one when it is empty.
pub(super) fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

/// What a pointer to a text points at, or another text when it is nil.
pub(super) fn deref<'a>(of: &'a Value, key: &str, nil: &'a str) -> &'a str {
    match of.opt(key) {
        Some(text) => text.as_str().unwrap_or(""),
        None => nil,
    }
}

/// `IntOrString.String` and the like: a number or text as it reads.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Str(s) => s.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Float(f) => f.to_string(),
        _ => String::new(),
    }
}

/// `Quantity.String` of a plain field, which is zero when it is absent.
pub(super) fn quantity(of: &Value, key: &str) -> String {
    of.opt(key).map(plain).filter(|q| !q.is_empty()).unwrap_or_else(|| "0".to_owned())
}

/// The texts of a list field, joined.
pub(super) fn join(list: &[Value], between: &str) -> String {
    list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(between)
}

/// `listWithMoreString`: the first three of what is there, and how many follow.
pub(super) fn first_three<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
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
pub(super) fn containers(spec: &Value) -> (String, String) {
    let list = spec.list("containers");
    let each = |key| list.iter().map(|c| c.s(key)).collect::<Vec<_>>().join(",");
    (each("name"), each("image"))
}

/// `strings.ToLower`, which unlike Rust's looks at one letter at a time.
pub(super) fn lower(text: &str) -> String {
    text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect()
}

/// `GroupResource.String` and `GroupKind.String`.
pub(super) fn grouped(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

/// The condition of a type.
pub(super) fn condition<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    status.list("conditions").iter().find(|c| c.s("type") == kind)
}

/// The names of load balancers, each once and in order (`loadBalancerStatusStringer`).
pub(super) fn balancer(status: &Value) -> String {
    let mut names: Vec<_> = status
        .sub("loadBalancer")
        .list("ingress")
        .iter()
        .map(|i| or(i.s("ip"), i.s("hostname")))
        .filter(|n| !n.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.join(",")
}
