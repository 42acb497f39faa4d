//! Workloads of the group `apps`.

use hydrofoil_types::Value;

use super::selector;
use super::subject::Subject;
use super::text::{containers, grouped, lower};
use crate::read::Read;

/// `printControllerRevision`.
pub(super) fn controller_revision(of: &Subject<'_>) -> Vec<Value> {
    let owner = of.meta().owners().iter().find(|o| o.b("controller"));
    let controller = owner.map_or_else(
        || "<none>".to_owned(),
        |o| {
            let group = o.s("apiVersion").split_once('/').map_or("", |(group, _)| group);
            match grouped(o.s("kind"), group).as_str() {
                "" => o.s("name").to_owned(),
                kind => format!("{}/{}", lower(kind), o.s("name")),
            }
        },
    );
    cells![of.name(), controller, of.object.i("revision"), of.age()]
}

/// `printDaemonSet`.
pub(super) fn daemon_set(of: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (of.spec(), of.status());
    let pod = spec.sub("template").sub("spec");
    let (names, images) = containers(pod);
    cells![
        of.name(),
        status.i("desiredNumberScheduled"),
        status.i("currentNumberScheduled"),
        status.i("numberReady"),
        status.i("updatedNumberScheduled"),
        status.i("numberAvailable"),
        selector::labels(pod, "nodeSelector"),
        of.age(),
        names,
        images,
        selector::format(spec.sub("selector")),
    ]
}

/// `printDeployment`.
pub(super) fn deployment(of: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (of.spec(), of.status());
    let (names, images) = containers(spec.sub("template").sub("spec"));
    cells![
        of.name(),
        ready(of),
        status.i("updatedReplicas"),
        status.i("availableReplicas"),
        of.age(),
        names,
        images,
        selector::parse(spec.sub("selector")).unwrap_or_else(|| "<invalid>".to_owned()),
    ]
}

/// `printReplicaSet`.
pub(super) fn replica_set(of: &Subject<'_>) -> Vec<Value> {
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
        selector::format(spec.sub("selector")),
    ]
}

/// `printStatefulSet`.
pub(super) fn stateful_set(of: &Subject<'_>) -> Vec<Value> {
    let (names, images) = containers(of.spec().sub("template").sub("spec"));
    cells![of.name(), ready(of), of.age(), names, images]
}

fn ready(of: &Subject<'_>) -> String {
    format!("{}/{}", of.status().i("readyReplicas"), of.spec().i("replicas"))
}
