//! Scopes of quotas (`pkg/quota/v1/evaluator/core/pods.go`, `persistent_volume_claims.go`).

use hydrofoil_types::Value;

use hydrofoil_rules::qos;
use hydrofoil_types::read::Read;

/// Report whether an object of a resource is in all scopes of a quota.
pub(super) fn all_match(quota: &Value, resource: &str, object: &Value) -> bool {
    let spec = quota.field("spec");
    let plain = spec.list("scopes").iter().all(|scope| matches(resource, scope.as_str().unwrap_or(""), None, object));
    plain
        && spec
            .field("scopeSelector")
            .list("matchExpressions")
            .iter()
            .all(|requirement| matches(resource, requirement.text("scopeName"), Some(requirement), object))
}

/// Report whether an object is in one scope, given by a requirement.
pub(super) fn matches_one(resource: &str, requirement: &Value, object: &Value) -> bool {
    matches(resource, requirement.text("scopeName"), Some(requirement), object)
}

/// Return the scopes of a quota that an object is in (`MatchingScopes`).
pub(super) fn matching<'q>(quota: &'q Value, resource: &str, object: &Value) -> Vec<&'q str> {
    let spec = quota.field("spec");
    let plain = spec.list("scopes").iter().filter_map(Value::as_str);
    let plain = plain.filter(|scope| matches(resource, scope, None, object));
    let selected = spec.field("scopeSelector").list("matchExpressions").iter();
    let selected = selected.filter(|requirement| matches_one(resource, requirement, object));
    plain.chain(selected.map(|requirement| requirement.text("scopeName"))).collect()
}

fn matches(resource: &str, scope: &str, requirement: Option<&Value>, object: &Value) -> bool {
    let spec = object.field("spec");
    match (resource, scope) {
        ("pods", "Terminating") => is_terminating(object),
        ("pods", "NotTerminating") => !is_terminating(object),
        ("pods", "BestEffort") => quality(object) == "BestEffort",
        ("pods", "NotBestEffort") => quality(object) != "BestEffort",
        ("pods", "PriorityClass") => selected(requirement, spec.text("priorityClassName")),
        ("pods", "CrossNamespacePodAffinity") => crosses_namespaces(spec.field("affinity")),
        ("persistentvolumeclaims", "VolumeAttributesClass") => {
            selected(requirement, spec.text("volumeAttributesClassName"))
        }
        _ => false,
    }
}

/// Report whether a pod ends by itself.
pub(super) fn is_terminating(pod: &Value) -> bool {
    pod.field("spec").opt_int("activeDeadlineSeconds").is_some_and(|s| s >= 0)
}

fn quality(pod: &Value) -> &str {
    match pod.field("status").text("qosClass") {
        "" => qos::class(pod),
        set => set,
    }
}

fn selected(requirement: Option<&Value>, name: &str) -> bool {
    let Some(requirement) = requirement else { return !name.is_empty() };
    let listed = requirement.list("values").iter().any(|v| v.as_str() == Some(name));
    match requirement.text("operator") {
        "In" => !name.is_empty() && listed,
        "NotIn" => name.is_empty() || !listed,
        "DoesNotExist" => name.is_empty(),
        _ => !name.is_empty(),
    }
}

fn crosses_namespaces(affinity: &Value) -> bool {
    let crosses = |term: &Value| !term.list("namespaces").is_empty() || term.has("namespaceSelector");
    ["podAffinity", "podAntiAffinity"].iter().map(|key| affinity.field(key)).any(|own| {
        own.list("requiredDuringSchedulingIgnoredDuringExecution").iter().any(crosses)
            || own
                .list("preferredDuringSchedulingIgnoredDuringExecution")
                .iter()
                .any(|weighted| crosses(weighted.field("podAffinityTerm")))
    })
}
