//! The row of a kind that keeps a number of pods.

use hydrofoil_types::Value;

use super::Subject;
use super::text::containers;
use hydrofoil_types::read::Read;

/// Return the cells of an object that keeps replicas, with its selector as text (`printReplicaSet`,
/// `printReplicationController`).
pub fn row(subject: &Subject<'_>, selector: String) -> Vec<Value> {
    let (spec, status) = (subject.spec(), subject.status());
    let (names, images) = containers(spec.field("template").field("spec"));
    cells![
        subject.name(),
        spec.int("replicas"),
        status.int("replicas"),
        status.int("readyReplicas"),
        subject.age(),
        names,
        images,
        selector,
    ]
}
