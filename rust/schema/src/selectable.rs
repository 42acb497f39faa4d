//! The values that field selectors look at.

use hydrofoil_types::{SmolStr, Value};

/// The value of a field label of a kind, as upstream's `GetAttrs` and `ToSelectableFields` give it.
pub fn value(kind: &str, label: &str, object: &Value) -> SmolStr {
    let path: Vec<&str> = match (kind, label) {
        ("Pod", "spec.host") => vec!["spec", "nodeName"],
        ("Pod", "status.podIPs") => return SmolStr::default(),
        ("Job", "status.successful") => vec!["status", "succeeded"],
        // An event reported by a component names it in either of two fields.
        ("Event", "source") => {
            let old = object.str_at(&["source", "component"]);
            let new = object.str_at(&["reportingComponent"]);
            return SmolStr::new(if old.is_empty() { new } else { old });
        }
        ("Event", "reportingController") => vec!["reportingComponent"],
        ("Event", label) => match label.strip_prefix("regarding.") {
            Some(rest) => vec!["involvedObject", rest],
            None => label.split('.').collect(),
        },
        _ => label.split('.').collect(),
    };
    match object.at(&path) {
        Some(Value::Str(s)) => s.clone(),
        Some(Value::Int(n)) => SmolStr::from(n.to_string()),
        Some(Value::Bool(b)) => SmolStr::new(if *b { "true" } else { "false" }),
        _ => zero(label),
    }
}

fn zero(label: &str) -> SmolStr {
    SmolStr::new(match label {
        "spec.unschedulable" | "spec.hostNetwork" => "false",
        "status.successful" | "status.replicas" => "0",
        _ => "",
    })
}

/// The text of most kinds with labels of their own.
pub fn unsupported(label: &str) -> String {
    format!("field label not supported: {label}")
}

/// The text of an unknown field label, which differs by kind.
pub fn unknown(group: &str, version: &str, kind: &str, has_own: bool, label: &str) -> String {
    match kind {
        "Job" => format!("field label {label:?} not supported for Job"),
        "ResourceSlice" => format!("field label not supported for {group}/{version}, Kind={kind}: {label}"),
        _ if has_own => unsupported(label),
        _ => format!("{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""),
    }
}
