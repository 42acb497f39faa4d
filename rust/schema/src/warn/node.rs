//! Node labels that are deprecated: `pkg/api/node`.

use hydrofoil_types::{Path, Value};

use crate::read::Read;
use crate::validate::check::go_quoted;

/// `GetNodeLabelDeprecatedMessage`.
pub(crate) fn deprecated(label: &str) -> Option<&'static str> {
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

/// Of the keys of a list of requirements.
pub(crate) fn expressions(of: &Value, key: &str, path: &Path<'_>, out: &mut Vec<String>) {
    let path = path.child(key);
    for (i, expression) in of.list(key).iter().enumerate() {
        let label = expression.s("key");
        if let Some(message) = deprecated(label) {
            out.push(format!("{}: {label} is {message}", path.index(i).child("key")));
        }
    }
}

/// `GetWarningsForNodeSelector`, of a label selector.
pub(crate) fn selector(selector: &Value, path: &Path<'_>, out: &mut Vec<String>) {
    expressions(selector, "matchExpressions", path, out);
    for (label, _) in selector.entries("matchLabels") {
        if let Some(message) = deprecated(label) {
            out.push(format!("{}: {message}", path.child("matchLabels").child(label)));
        }
    }
}

/// A driver named with capitals (kubernetes `pkg/registry/resource/resourceslice`).
pub(crate) fn driver_name(object: &Value, out: &mut Vec<String>) {
    let name = object.sub("spec").s("driver");
    if name != name.to_lowercase() {
        let shown = go_quoted(name);
        out.push(format!("spec.driver: driver names should be lowercase; {shown} contains uppercase characters"));
    }
}

/// Tokens that a CSI driver asks for anew would better come as secrets (kubernetes `pkg/registry/storage/csidriver`).
pub(crate) fn driver(object: &Value, old: &Value, out: &mut Vec<String>) {
    let (spec, before) = (object.sub("spec"), old.sub("spec"));
    let asked = spec.list("tokenRequests");
    if !asked.is_empty() && asked != before.list("tokenRequests") && !spec.has("serviceAccountTokenInSecrets") {
        out.push(
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent \
             possible logging of tokens in volume attributes"
                .into(),
        );
    }
}

/// `GetWarningsForStorageClass`.
pub(crate) fn storage_class(object: &Value, out: &mut Vec<String>) {
    let path = Path::new("allowedTopologies");
    for (i, term) in object.list("allowedTopologies").iter().enumerate() {
        expressions(term, "matchLabelExpressions", &path.index(i), out);
    }
}

/// `GetWarningsForRuntimeClass`.
pub(crate) fn runtime_class(object: &Value, out: &mut Vec<String>) {
    for (label, _) in object.sub("scheduling").entries("nodeSelector") {
        if let Some(message) = deprecated(label) {
            out.push(format!("scheduling.nodeSelector: {message}"));
        }
    }
}
