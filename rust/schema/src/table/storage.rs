//! Storage classes and drivers.

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::{deref, join, or};
use crate::read::Read;

/// `printCSIDriver`.
pub(super) fn driver(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    // An empty list does not outlive the store, where it becomes an unset one.
    let audiences = match spec.list("tokenRequests") {
        [] => "<unset>".to_owned(),
        list => list.iter().map(|t| t.s("audience")).collect::<Vec<_>>().join(","),
    };
    let modes = join(spec.list("volumeLifecycleModes"), ",");
    cells![
        of.name(),
        spec.get("attachRequired").and_then(Value::as_bool).unwrap_or(true),
        spec.b("podInfoOnMount"),
        spec.b("storageCapacity"),
        audiences,
        spec.b("requiresRepublish"),
        or(&modes, "<none>"),
        of.age(),
    ]
}

/// `printCSINode`.
pub(super) fn node(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), of.spec().list("drivers").len() as i64, of.age()]
}

/// `printStorageClass`.
pub(super) fn class(of: &Subject<'_>) -> Vec<Value> {
    let class = of.object;
    let default = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
        .into_iter()
        .any(|key| of.annotation(key) == Some("true"));
    cells![
        format!("{}{}", of.name(), if default { " (default)" } else { "" }),
        class.s("provisioner"),
        deref(class, "reclaimPolicy", "Delete"),
        deref(class, "volumeBindingMode", "Immediate"),
        class.b("allowVolumeExpansion"),
        of.age(),
    ]
}

/// `printVolumeAttachment`.
pub(super) fn attachment(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    cells![
        of.name(),
        spec.s("attacher"),
        spec.sub("source").s("persistentVolumeName"),
        spec.s("nodeName"),
        of.status().b("attached"),
        of.age(),
    ]
}

/// `printVolumeAttributesClass`.
pub(super) fn attributes_class(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), of.object.s("driverName"), of.age()]
}
