//! Workloads.

use hydrofoil_types::Value;

use super::{pod, volume};
use crate::prepare::daemon;
use crate::read::{Read, Write};

pub(super) fn deployment(object: &mut Value) {
    let spec = object.make("spec");
    spec.unset("replicas", 1);
    let strategy = spec.make("strategy");
    strategy.fill("type", "RollingUpdate");
    if strategy.s("type") == "RollingUpdate" {
        let rolling = strategy.make("rollingUpdate");
        rolling.unset("maxUnavailable", "25%");
        rolling.unset("maxSurge", "25%");
    }
    amounts(strategy);
    spec.unset("revisionHistoryLimit", 10);
    spec.unset("progressDeadlineSeconds", 600);
    template(spec);
}

pub(super) fn daemon_set(object: &mut Value) {
    let spec = object.make("spec");
    let strategy = spec.make("updateStrategy");
    strategy.fill("type", "RollingUpdate");
    if strategy.s("type") == "RollingUpdate" {
        let rolling = strategy.make("rollingUpdate");
        rolling.unset("maxUnavailable", 1);
        rolling.unset("maxSurge", 0);
    }
    amounts(strategy);
    spec.unset("revisionHistoryLimit", 10);
    template(spec);
    daemon::convert(object);
}

/// Both amounts are no pointers in the internal type.
fn amounts(strategy: &mut Value) {
    strategy.within("rollingUpdate", |rolling| {
        rolling.unset("maxUnavailable", 0);
        rolling.unset("maxSurge", 0);
    });
}

pub(super) fn stateful_set(object: &mut Value) {
    let spec = object.make("spec");
    spec.fill("podManagementPolicy", "OrderedReady");
    let strategy = spec.make("updateStrategy");
    if strategy.zero("type") {
        strategy.put("type", "RollingUpdate");
        strategy.make("rollingUpdate");
    }
    strategy.within("rollingUpdate", |r| r.unset("partition", 0));
    let retention = spec.make("persistentVolumeClaimRetentionPolicy");
    retention.fill("whenDeleted", "Retain");
    retention.fill("whenScaled", "Retain");
    spec.unset("replicas", 1);
    spec.unset("revisionHistoryLimit", 10);
    template(spec);
    spec.each("volumeClaimTemplates", |claim| {
        volume::claim(claim);
        // The templates are whole objects, so the conversion writes their type.
        claim.fill("apiVersion", "v1");
        claim.fill("kind", "PersistentVolumeClaim");
    });
}

pub(super) fn replica_set(object: &mut Value) {
    let spec = object.make("spec");
    spec.unset("replicas", 1);
    template(spec);
}

pub(super) fn replication_controller(object: &mut Value) {
    object.make("spec").unset("replicas", 1);
    let labels = object.sub("spec").sub("template").sub("metadata").opt("labels").cloned();
    if let Some(labels) = labels {
        if object.sub("spec").zero("selector") {
            object.make("spec").put("selector", labels.clone());
        }
        if object.sub("metadata").zero("labels") {
            object.make("metadata").put("labels", labels);
        }
    }
    pod::template(object.make("spec"), "template");
}

/// The template is no pointer, so its defaults are there even when nothing of it was sent.
fn template(spec: &mut Value) {
    pod::spec(spec.make("template").make("spec"));
}
