//! Between the version in which a kind is stored and the others in which it is served.

mod autoscaler;
pub(crate) mod definition;
mod device;
mod metric;

use hydrofoil_types::Value;

use crate::prepare::daemon;
use crate::{Kind, default};

/// What decoding itself does to some kinds (`conversion.go` of their versions): write-only fields are moved, notes that
/// another version left are dropped.
pub fn after_decode(kind: &Kind, object: &mut Value) {
    match kind.gvk() {
        ("", _, "Secret") => string_data(object),
        ("autoscaling", "v2", "HorizontalPodAutoscaler") => autoscaler::drop_annotations(object),
        _ => {}
    }
}

/// What the conversion from the internal version sets in an object that says nothing, as a bookmark has it: pointers
/// to numbers that internally are plain, and notes.
pub fn of_nothing(kind: &Kind, object: &mut Value) {
    match kind.key() {
        ("apps", "Deployment" | "StatefulSet" | "ReplicaSet") => object.object_at_mut(&["spec"]).set("replicas", 0_i64),
        ("apps", "DaemonSet") => daemon::convert(object),
        _ => {}
    }
}

/// An object in the version whose fields the rules of its kind are about, when that is not its own.
pub(crate) fn internal(gvk: (&str, &str, &str), object: &Value) -> Option<Value> {
    (gvk == ("autoscaling", "v1", "HorizontalPodAutoscaler")).then(|| {
        let mut object = object.clone();
        autoscaler::up(&mut object);
        object
    })
}

/// An object in its own version again, after `internal`.
pub(crate) fn external(object: &mut Value) {
    autoscaler::down(object);
}

/// `stringData` of a Secret goes into `data`.
fn string_data(object: &mut Value) {
    let Some(Value::Object(given)) = object.as_object_mut().and_then(|m| m.remove("stringData")) else { return };
    let data = object.object_at_mut(&["data"]);
    for (key, value) in given {
        let text = value.as_str().unwrap_or("");
        data.set(key, base64(text.as_bytes()));
    }
    data.sort_keys();
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Members of `events.k8s.io` and what they are called in the core group.
const EVENT: [(&str, &str); 6] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// An object of a served version as its kind is stored.
pub fn to_storage(kind: &Kind, mut object: Value) -> Value {
    match kind.gvk() {
        ("events.k8s.io", _, "Event") => rename(&mut object, EVENT.iter().map(|(new, old)| (*new, *old))),
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => {
            autoscaler::up(&mut object);
            // What is read from the store has the defaults of the version that is stored.
            default::autoscaler_v2(&mut object);
        }
        ("apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition") => definition::up(&mut object),
        ("resource.k8s.io", "v1beta1", kind) => device::up(kind, &mut object),
        _ => {}
    }
    object
}

/// A stored object as a served version shows it.
pub fn from_storage(kind: &Kind, mut object: Value) -> Value {
    match kind.gvk() {
        ("events.k8s.io", _, "Event") => rename(&mut object, EVENT.iter().map(|(new, old)| (*old, *new))),
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => autoscaler::down(&mut object),
        ("apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition") => definition::down(&mut object),
        ("resource.k8s.io", "v1beta1", kind) => device::down(kind, &mut object),
        _ => {}
    }
    object
}

fn rename<'a>(object: &mut Value, names: impl Iterator<Item = (&'a str, &'a str)>) {
    let Some(map) = object.as_object_mut() else { return };
    for (from, to) in names {
        if let Some(value) = map.remove(from) {
            map.set(to, value);
        }
    }
    for both in [("reportingController", "reportingComponent"), ("reportingComponent", "reportingController")] {
        // Either name stands in its own version only; the schema of the other drops it.
        if let Some(value) = map.get(both.0).cloned().filter(|_| !map.contains_key(both.1)) {
            map.set(both.1, value);
        }
    }
}
