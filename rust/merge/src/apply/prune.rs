//! What a manager no longer asks for goes, unless somebody else does (structured-merge-diff
//! `merge/update.go prune`, `typed/remove.go`).

use hydrofoil_types::{Map, Value};

use crate::fieldset::{FieldSet, PathElement};
use crate::owned;
use crate::place::{Atom, Place};

/// The merged object without what `last` had and `everyone`, the new set included, does not.
pub(super) fn prune(place: Place<'_>, merged: &Value, last: &FieldSet, everyone: &FieldSet) -> Value {
    let present = named(place, &owned::all(place, merged));
    let last = named(place, last);
    let pruned = without(place, merged, &last);
    let kept = named(place, &owned::all(place, &pruned)).union(&named(place, everyone));
    let pruned = without(place, merged, &present.clone().difference(&kept));
    // What was not its own to remove comes back.
    let kept = named(place, &owned::all(place, &pruned));
    let pruned = without(place, merged, &present.difference(&kept).intersection(&last));
    if pruned == Value::Null { Value::object() } else { pruned }
}

/// The set with the struct fields that lead to members as members (`EnsureNamedFieldsAreMembers`).
fn named(place: Place<'_>, set: &FieldSet) -> FieldSet {
    let mut out = FieldSet::new();
    for (element, member, below) in set.nodes() {
        let is_named = matches!(element, PathElement::Field(name) if place.is_named(name));
        let inner = match place.below(element) {
            Some(child) => named(child, below),
            None => below.clone(),
        };
        out.set_node(element.clone(), member || is_named, inner);
    }
    out
}

/// The value without the members of a set; null when nothing is left.
fn without(place: Place<'_>, value: &Value, gone: &FieldSet) -> Value {
    let below = |element: &PathElement, child: Place<'_>, value: &Value| {
        if gone.has(std::slice::from_ref(element)) {
            return None;
        }
        Some(match gone.below(element) {
            // What loses all it holds stays, empty.
            Some(inner) => match (without(child, value, inner), value) {
                (Value::Null, Value::Object(_)) => Value::object(),
                (Value::Null, Value::Array(_)) => Value::Array(Vec::new()),
                (left, _) => left,
            },
            None => value.clone(),
        })
    };
    match (place.atom, value) {
        (Atom::Struct(_) | Atom::Map(_) | Atom::Free, Value::Object(map)) => {
            let left = map.iter().filter_map(|(key, value)| {
                let element = PathElement::Field(key.clone());
                Some((key.clone(), below(&element, place.member(key)?, value)?))
            });
            let left: Vec<_> = left.collect();
            if left.is_empty() { Value::Null } else { Value::Object(Map::from_unique(left)) }
        }
        (Atom::List(..), Value::Array(items)) => {
            let left = items.iter().filter_map(|item| match place.element(item) {
                Ok(element) => below(&element, place.item(), item),
                Err(_) => Some(item.clone()),
            });
            let left: Vec<_> = left.collect();
            if left.is_empty() { Value::Null } else { Value::Array(left) }
        }
        // Part of what is atomic cannot go alone.
        (_, Value::Object(_) | Value::Array(_)) => Value::Null,
        _ => value.clone(),
    }
}
