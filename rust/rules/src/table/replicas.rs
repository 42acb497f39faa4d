//! The row of a kind that keeps a number of pods.

use hydrofoil_types::Value;

use super::Subject;
use super::text::containers;
use hydrofoil_types::read::Read;

/// Return the cells of an object that keeps replicas, with its selector as text (`printReplicaSet`,
/// `printReplicationController`).
pub fn row(of: &Subject<'_>, selector: String) -> Vec<Value> {
    let (spec, status) = (of.spec(), of.status());
    let (names, images) = containers(spec.field("template").field("spec"));
    cells![
        of.name(),
        spec.int("replicas"),
        status.int("replicas"),
        status.int("readyReplicas"),
        of.age(),
        names,
        images,
        selector,
    ]
}
