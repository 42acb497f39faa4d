//! Autoscalers (`pkg/apis/autoscaling/validation/validation.go`); paths are those of `autoscaling/v2`.

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_rules::check::{Check, NOT_NEGATIVE};
use hydrofoil_rules::format::name;
use hydrofoil_rules::resource;
use hydrofoil_rules::workload::counts;
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");
/// The types of metrics in the order in which upstream looks at their sources: only the first is checked.
const KINDS: [(&str, &str); 5] = [
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];

/// Which versions a reference may name (`CrossVersionObjectReferenceValidationOptions`).
#[derive(Clone, Copy)]
enum Versions {
    /// Any text.
    Any,
    /// Those of any group.
    Core,
    /// Those of a group that has a name.
    Named,
}

/// `ValidateHorizontalPodAutoscalerSpec`.
pub(super) fn rules(release: Release, object: &Value, old: Option<&Value>, causes: &mut Causes) {
    spec(release, object.field("spec"), old.map(|old| old.field("spec")), causes);
}

fn spec(release: Release, spec: &Value, old: Option<&Value>, causes: &mut Causes) {
    let at = SPEC.child("minReplicas");
    let scales_to_zero =
        release.enabled(Gate::HPAScaleToZero) || old.is_some_and(|old| old.opt_int("minReplicas") == Some(0));
    let lowest = i64::from(!scales_to_zero);
    if let Some(least) = spec.opt_int("minReplicas").filter(|n| *n < lowest) {
        causes.invalid_int(&at, least, &format!("must be greater than or equal to {lowest}"));
    }
    let (most, at) = (spec.int("maxReplicas"), SPEC.child("maxReplicas"));
    if most == 0 {
        causes.required(&at, "must be set and greater than 0");
    } else if most < 1 {
        causes.invalid_int(&at, most, "must be greater than or equal to 1");
    }
    if spec.opt_int("minReplicas").is_some_and(|least| most < least) {
        causes.invalid_int(&at, most, "must be greater than or equal to `minReplicas`");
    }
    let target = spec.field("scaleTargetRef");
    reference(target, target_versions(target, old), &SPEC.child("scaleTargetRef"), causes);
    metrics(spec, metric_versions(old), causes);
    if let Some(behavior) = spec.opt("behavior") {
        let at = SPEC.child("behavior");
        for key in ["scaleUp", "scaleDown"] {
            if let Some(rules) = behavior.opt(key) {
                scaling(rules, &at.child(key), causes);
            }
        }
    }
}

/// A target that stays the same is not held to the rule; only controllers of the core group can be scaled.
fn target_versions(target: &Value, old: Option<&Value>) -> Versions {
    let same = |old: &Value| ["apiVersion", "kind"].iter().all(|key| old.text(key) == target.text(key));
    if old.is_some_and(|old| same(old.field("scaleTargetRef"))) {
        Versions::Any
    } else if target.text("kind") == "ReplicationController" {
        Versions::Core
    } else {
        Versions::Named
    }
}

/// Metrics that were invalid before may stay so.
fn metric_versions(old: Option<&Value>) -> Versions {
    let invalid = |metric: &Value| {
        let version = metric.field("object").field("describedObject").text("apiVersion");
        metric.text("type") == "Object" && slashes(version) > 1
    };
    if old.is_some_and(|old| old.list("metrics").iter().any(invalid)) { Versions::Any } else { Versions::Core }
}

fn slashes(version: &str) -> usize {
    version.bytes().filter(|b| *b == b'/').count()
}

/// `ValidateCrossVersionObjectReference`.
fn reference(target: &Value, versions: Versions, path: &Path<'_>, causes: &mut Causes) {
    for key in ["kind", "name"] {
        if target.zero(key) {
            causes.need(&path.child(key));
        } else {
            causes.format(&path.child(key), target.text(key), name::path_segment);
        }
    }
    let (at, version) = (path.child("apiVersion"), target.text("apiVersion"));
    match versions {
        Versions::Any => {}
        _ if slashes(version) > 1 => {
            causes.invalid_str(&at, version, &format!("unexpected GroupVersion string: {version}"));
        }
        Versions::Named if !version.contains('/') || version.starts_with('/') => {
            causes.invalid_str(&at, version, "apiVersion must specify API group");
        }
        Versions::Core | Versions::Named => {}
    }
}

fn metrics(spec: &Value, versions: Versions, causes: &mut Causes) {
    let list = spec.list("metrics");
    let at = SPEC.child("metrics");
    for (i, metric) in list.iter().enumerate() {
        metric_of(metric, versions, &at.index(i), causes);
    }
    if spec.opt_int("minReplicas") == Some(0) && !list.iter().any(|m| matches!(m.text("type"), "Object" | "External")) {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        causes.forbidden(&at, detail);
    }
}

fn metric_of(metric: &Value, versions: Versions, path: &Path<'_>, causes: &mut Causes) {
    let kind = metric.text("type");
    let at = path.child("type");
    if kind.is_empty() {
        causes.required(&at, "must specify a metric source type");
    }
    let known = ["ContainerResource", "External", "Object", "Pods", "Resource"];
    causes.one_of(&at, kind, &known);
    if let Some((key, source)) = KINDS.iter().find_map(|(_, key)| Some((*key, metric.opt(key)?))) {
        source_of(key, source, versions, &path.child(key), causes);
    }
    let expected = KINDS.iter().find(|(k, _)| *k == kind).map_or("", |(_, key)| *key);
    if expected.is_empty() {
        // Upstream validates the type twice.
        causes.one_of(&at, kind, &known);
    } else if !metric.has(expected) {
        causes.required(&path.child(expected), "must populate information for the given metric source");
    }
    let present = KINDS.iter().filter(|(_, key)| metric.has(key)).count();
    for (_, key) in KINDS {
        if present != 1 && key != expected && metric.has(key) {
            causes.forbidden(&path.child(key), "must populate the given metric source only");
        }
    }
}

fn source_of(key: &str, source: &Value, versions: Versions, path: &Path<'_>, causes: &mut Causes) {
    let target = source.field("target");
    let at = path.child("target");
    let both = "may not set both a target raw value and a target utilization";
    match key {
        "object" => {
            reference(source.field("describedObject"), versions, &path.child("describedObject"), causes);
            identifier(source.field("metric"), &path.child("metric"), causes);
            target_of(target, &at, causes);
            if !target.has("value") && !target.has("averageValue") {
                causes.required(&at.child("averageValue"), "must set either a target value or averageValue");
            }
        }
        "external" => {
            identifier(source.field("metric"), &path.child("metric"), causes);
            target_of(target, &at, causes);
            if !target.has("value") && !target.has("averageValue") {
                let detail = "must set either a target value for metric or a per-pod target";
                causes.required(&at.child("averageValue"), detail);
            }
            if target.has("value") && target.has("averageValue") {
                let detail = "may not set both a target value for metric and a per-pod target";
                causes.forbidden(&at.child("value"), detail);
            }
        }
        "pods" => {
            identifier(source.field("metric"), &path.child("metric"), causes);
            target_of(target, &at, causes);
            if resource::quantity(target.field("averageValue")).nano() <= 0 && !target.has("averageValue") {
                causes.required(&at.child("averageValue"), "must specify a positive target averageValue");
            }
        }
        _ => {
            if source.zero("name") {
                causes.required(&path.child("name"), "must specify a resource name");
            } else if key == "containerResource" {
                resource::container_name(source.text("name"), &path.child("name"), causes);
            }
            if key == "containerResource" {
                let at = path.child("container");
                if source.zero("container") {
                    causes.required(&at, "must specify a container");
                } else {
                    causes.format(&at, source.text("container"), name::label);
                }
            }
            target_of(target, &at, causes);
            if !target.has("averageUtilization") && !target.has("averageValue") {
                let detail = "must set either a target raw value or a target utilization";
                causes.required(&at.child("averageUtilization"), detail);
            }
            if target.has("averageUtilization") && target.has("averageValue") {
                causes.forbidden(&at.child("averageValue"), both);
            }
        }
    }
}

fn identifier(metric: &Value, path: &Path<'_>, causes: &mut Causes) {
    if metric.zero("name") {
        causes.required(&path.child("name"), "must specify a metric name");
    } else {
        causes.format(&path.child("name"), metric.text("name"), name::path_segment);
    }
}

fn target_of(target: &Value, path: &Path<'_>, causes: &mut Causes) {
    let (kind, at) = (target.text("type"), path.child("type"));
    if kind.is_empty() {
        causes.required(&at, "must specify a metric target type");
    }
    if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        causes.invalid_str(&at, kind, "must be either Utilization, Value, or AverageValue");
    }
    for key in ["value", "averageValue"] {
        if let Some(amount) = target.opt(key).filter(|a| resource::quantity(a).nano() <= 0) {
            causes.invalid(&path.child(key), amount, "must be positive");
        }
    }
    if let Some(percent) = target.opt_int("averageUtilization").filter(|p| *p < 1) {
        causes.invalid_int(&path.child("averageUtilization"), percent, "must be greater than 0");
    }
}

fn scaling(rules: &Value, path: &Path<'_>, causes: &mut Causes) {
    if let Some(seconds) = rules.opt_int("stabilizationWindowSeconds") {
        let at = path.child("stabilizationWindowSeconds");
        if seconds < 0 {
            causes.invalid_int(&at, seconds, "must be greater than or equal to zero");
        }
        if seconds > 3600 {
            causes.invalid_int(&at, seconds, "must be less than or equal to 3600");
        }
    }
    if let Some(policy) = rules.opt("selectPolicy") {
        let at = path.child("selectPolicy");
        causes.one_of(&at, policy.as_str().unwrap_or(""), &["Disabled", "Max", "Min"]);
    }
    let at = path.child("policies");
    if rules.list("policies").is_empty() {
        causes.required(&at, "must specify at least one Policy");
    }
    for (i, policy) in rules.list("policies").iter().enumerate() {
        let at = at.index(i);
        causes.one_of(&at.child("type"), policy.text("type"), &["Percent", "Pods"]);
        for key in ["value", "periodSeconds"] {
            if policy.int(key) <= 0 {
                causes.invalid_int(&at.child(key), policy.int(key), "must be greater than zero");
            }
        }
        if policy.int("periodSeconds") > 1800 {
            causes.invalid_int(
                &at.child("periodSeconds"),
                policy.int("periodSeconds"),
                "must be less than or equal to 1800",
            );
        }
    }
    if let Some(tolerance) = rules.opt("tolerance").filter(|t| resource::quantity(t).nano() < 0) {
        causes.invalid(&path.child("tolerance"), tolerance, NOT_NEGATIVE);
    }
}

/// `ValidateHorizontalPodAutoscalerStatusUpdate`.
pub(super) fn status(object: &Value, causes: &mut Causes) {
    counts(object.field("status"), &["currentReplicas", "desiredReplicas"], &Path::new("status"), causes);
}
