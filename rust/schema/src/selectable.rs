//! The values that field selectors look at.

use hydrofoil_types::{SmolStr, Value};

use crate::Kind;

/// Return the value of a field label of a kind, as upstream's `GetAttrs` and `ToSelectableFields` give it.
pub fn value(kind: &Kind, label: &str, object: &Value) -> SmolStr {
    if let Some(value) = (kind.strategy.field_value)(label, object) {
        return value;
    }
    let path: Vec<&str> = label.split('.').collect();
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
        "status.replicas" => "0",
        _ => "",
    })
}

/// Report whether the namespace is a field label of a kind. Those with labels of their own have it only if they are
/// namespaced, and pod certificate requests not even then (`pkg/apis/certificates/v1beta1/conversion.go`).
pub fn has_namespace(kind: &Kind, has_own: bool) -> bool {
    !has_own || (kind.namespaced && kind.kind != "PodCertificateRequest")
}

/// Return the text that refuses an unknown label for most kinds with labels of their own.
pub fn unsupported_label(label: &str) -> String {
    format!("field label not supported: {label}")
}

/// Return the text that refuses an unknown field label, which differs by kind.
pub fn unknown(kind: &Kind, has_own: bool, label: &str) -> String {
    match (kind.strategy.unknown_field)(&kind.version, label) {
        Some(text) => text,
        None if has_own => unsupported_label(label),
        None => format!("{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""),
    }
}
