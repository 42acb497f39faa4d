//! The paths that an object sets.

#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hydrofoil_types::{Schema, Value};

use crate::fieldset::{FieldSet, PathElement};
use crate::place::{Atom, Place};

/// Return the paths that a configuration sets and can own (`ToFieldSet` of structured-merge-diff
/// `typed/tofieldset.go`), without those that are never owned.
pub fn set_of(schema: &Schema, value: &Value) -> FieldSet {
    all(Place::root(schema), value).difference(never_owned())
}

/// Return the paths that a value sets.
pub(crate) fn all(place: Place<'_>, value: &Value) -> FieldSet {
    match (place.atom, value) {
        (Atom::Struct(_) | Atom::Map(_) | Atom::Free, Value::Object(map)) => {
            FieldSet::of_nodes(map.iter().filter_map(|(key, value)| {
                let child = place.member(key)?;
                let empty = *value == Value::Null || value.as_object().is_some_and(hydrofoil_types::Map::is_empty);
                let member = empty || !place.is_named(key) || is_leaf(child, value);
                Some((PathElement::Field(key.clone()), member, all(child, value)))
            }))
        }
        (Atom::List(..), Value::Array(items)) => {
            let mut seen: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
            for item in items {
                // Items without a path element are reported by validation.
                if let Ok(element) = place.element(item) {
                    seen.entry(element).or_default().push(item);
                }
            }
            FieldSet::of_nodes(seen.into_iter().map(|(element, items)| {
                // Fields below items with the same key have no owner.
                let below = if items.len() == 1 { all(place.item(), items[0]) } else { FieldSet::new() };
                (element, true, below)
            }))
        }
        _ => FieldSet::new(),
    }
}

/// Report whether a value is owned as a whole.
fn is_leaf(place: Place<'_>, value: &Value) -> bool {
    match place.atom {
        Atom::Leaf => true,
        Atom::Free => value.as_object().is_none(),
        Atom::Struct(_) | Atom::Map(_) | Atom::List(..) => false,
    }
}

/// Return the paths that no manager owns (apimachinery `pkg/util/managedfields/internal/stripmeta.go`).
pub(crate) fn never_owned() -> &'static FieldSet {
    &NEVER
}

static NEVER: LazyLock<FieldSet> = LazyLock::new(|| {
    FieldSet::of_fields(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});

#[cfg(test)]
mod tests {
    use super::set_of;
    use crate::testing::{json, schema, text};

    #[test]
    fn a_pod() {
        let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","generateName":"g","labels":{"a":"b"},"finalizers":["x"],"annotations":{}},
            "spec":{"nodeSelector":{"x":"y"},"tolerations":[{"key":"k"}],"imagePullSecrets":[{"name":"s"}],"securityContext":{},
            "containers":[{"name":"c","args":["x"],"ports":[{"containerPort":80}],"env":[{"name":"A"},{"name":"A"}],"resources":{"limits":{"cpu":"1"}}}]}}"#;
        let expected = r#"{"f:metadata":{"f:annotations":{},"f:finalizers":{"v:\"x\"":{}},"f:generateName":{},"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:args":{},"f:env":{"k:{\"name\":\"A\"}":{}},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}},"f:resources":{"f:limits":{"f:cpu":{}}}}},"f:imagePullSecrets":{"k:{\"name\":\"s\"}":{}},"f:nodeSelector":{},"f:securityContext":{},"f:tolerations":{}}}"#;
        assert_eq!(text(&set_of(&schema("core.v1.Pod"), &json(pod)).to_value()), expected);
    }
}
