//! Removal of the fields that a manager no longer applies and no other manager owns (structured-merge-diff
//! `merge/update.go prune`, `typed/remove.go`).

use hydrofoil_types::{Map, Value};

use crate::fieldset::{FieldSet, PathElement};
use crate::owned;
use crate::place::{Atom, Place};

/// Return the merged object without the fields in `last` but not in `everyone`, which includes the new set.
pub(super) fn prune(place: Place<'_>, merged: &Value, last: &FieldSet, everyone: &FieldSet) -> Value {
    let present = named(place, &owned::all(place, merged));
    let last = named(place, last);
    let pruned = without(place, merged, &last);
    let kept = named(place, &owned::all(place, &pruned)).union(&named(place, everyone));
    let pruned = without(place, merged, &present.clone().difference(&kept));
    // Restore fields that it did not own.
    let kept = named(place, &owned::all(place, &pruned));
    let pruned = without(place, merged, &present.difference(&kept).intersection(&last));
    if pruned == Value::Null { Value::object() } else { pruned }
}

/// Return the set with the struct fields on the way to members added (`EnsureNamedFieldsAreMembers`).
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

/// Return the value without the members of a set; null if nothing is left.
fn without(place: Place<'_>, value: &Value, gone: &FieldSet) -> Value {
    let below = |element: &PathElement, child: Place<'_>, value: &Value| {
        if gone.has(std::slice::from_ref(element)) {
            return None;
        }
        Some(match gone.below(element) {
            // A value that loses all its members stays, empty.
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
        // A part of an atomic value cannot be removed alone.
        (_, Value::Object(_) | Value::Array(_)) => Value::Null,
        _ => value.clone(),
    }
}
