//! The smaller kinds of the core group.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::Value;

use super::selector;
use super::subject::Subject;
use super::text::{condition, containers, quantity};
use crate::read::Read;

/// `printComponentStatus`.
pub(super) fn component_status(of: &Subject<'_>) -> Vec<Value> {
    let (mut status, mut message, mut error) = ("Unknown", "", "");
    if let Some(healthy) = condition(of.object, "Healthy") {
        status = if healthy.s("status") == "True" { "Healthy" } else { "Unhealthy" };
        (message, error) = (healthy.s("message"), healthy.s("error"));
    }
    cells![of.name(), status, message, error]
}

/// `printConfigMap`.
pub(super) fn config_map(of: &Subject<'_>) -> Vec<Value> {
    let entries = of.object.entries("data").len() + of.object.entries("binaryData").len();
    cells![of.name(), entries as i64, of.age()]
}

/// `printNamespace`.
pub(super) fn namespace(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), of.status().s("phase"), of.age()]
}

/// `printPodTemplate`.
pub(super) fn pod_template(of: &Subject<'_>) -> Vec<Value> {
    let template = of.object.sub("template");
    let (names, images) = containers(template.sub("spec"));
    cells![of.name(), names, images, selector::labels(template.sub("metadata"), "labels")]
}

/// `printReplicationController`.
pub(super) fn replication_controller(of: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (of.spec(), of.status());
    let (names, images) = containers(spec.sub("template").sub("spec"));
    cells![
        of.name(),
        spec.i("replicas"),
        status.i("replicas"),
        status.i("readyReplicas"),
        of.age(),
        names,
        images,
        selector::labels(spec, "selector"),
    ]
}

/// `printResourceQuota`.
pub(super) fn resource_quota(of: &Subject<'_>) -> Vec<Value> {
    let (hard, used) = (of.status().sub("hard"), of.status().sub("used"));
    let mut names: Vec<_> = of.status().entries("hard").map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for name in names {
        let shown = format!("{name}: {}/{}", quantity(used, name), quantity(hard, name));
        if name.starts_with("limits.") {
            limits.push(shown);
        } else {
            requests.push(shown);
        }
    }
    cells![of.name(), requests.join(", "), limits.join(", "), of.age()]
}

/// `printSecret`.
pub(super) fn secret(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), of.object.s("type"), of.object.entries("data").len() as i64, of.age()]
}
