//! Node labels that are deprecated (`pkg/api/node`).

use hydrofoil_types::{Path, Value};

use hydrofoil_types::read::Read;

/// `GetNodeLabelDeprecatedMessage`.
pub fn deprecation_message(label: &str) -> Option<&'static str> {
    Some(match label {
        "beta.kubernetes.io/arch" => "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
        "beta.kubernetes.io/os" => "deprecated since v1.14; use \"kubernetes.io/os\" instead",
        "failure-domain.beta.kubernetes.io/region" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"
        }
        "failure-domain.beta.kubernetes.io/zone" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"
        }
        "beta.kubernetes.io/instance-type" => {
            "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"
        }
        "app.kubernetes.io/created-by" => "deprecated since v1.9",
        "scheduler.alpha.kubernetes.io/preferAvoidPods" => "deprecated since v1.22; use Taints and Tolerations instead",
        "node-role.kubernetes.io/master" => "use \"node-role.kubernetes.io/control-plane\" instead",
        _ => return None,
    })
}

/// Warn of the keys in a list of requirements.
pub fn expressions(of: &Value, key: &str, path: &Path<'_>, out: &mut Vec<String>) {
    let path = path.child(key);
    for (i, expression) in of.list(key).iter().enumerate() {
        let label = expression.text("key");
        if let Some(message) = deprecation_message(label) {
            out.push(format!("{}: {label} is {message}", path.index(i).child("key")));
        }
    }
}

/// `GetWarningsForNodeSelector`, of a label selector.
pub fn selector(selector: &Value, path: &Path<'_>, out: &mut Vec<String>) {
    expressions(selector, "matchExpressions", path, out);
    for (label, _) in selector.entries("matchLabels") {
        if let Some(message) = deprecation_message(label) {
            out.push(format!("{}: {message}", path.child("matchLabels").child(label)));
        }
    }
}
