//! Removal of the fields that a manager no longer applies and no other manager owns (structured-merge-diff
//! `merge/update.go prune`, `typed/remove.go`).

use std::borrow::Cow;

use hydrofoil_types::{Map, SmolStr, Value};

use crate::fieldset::{FieldSet, PathElement};
use crate::managed::{Entry, Managed};
use crate::owned;
use crate::place::{Atom, Place};
use crate::versions::{ManagedRequest, Unconverted};

/// Return the merged object without the fields in `last` that no entry and not the new set of its manager has. Each set is
/// of its own version, in which the object is looked at.
pub(super) fn prune<'a>(
    place: Place<'a>,
    req: &ManagedRequest<'a>,
    merged: Value,
    last: &Entry,
    own: &FieldSet,
    managed: &Managed,
) -> Result<Value, Unconverted> {
    let version = &last.api_version;
    if *version != req.api_version && req.versions.schema(version).is_none() {
        return Ok(merged);
    }
    let there = req.place(place, version);
    let lost = |why: Unconverted| why.within("failed to convert merged object to last applied version");
    let merged = req.convert(&merged, req.api_version, version).map_err(lost)?.into_owned();
    let removed = ensure_named(there, &last.set);
    let pruned = without(there, &merged, &removed);
    let back = Owners { place, req, own, managed };
    let (pruned, at) =
        back.add_fields(&merged, pruned, version).map_err(|why| why.within("failed add back owned items"))?;
    // Restore fields that it did not own.
    let lost = |why: Unconverted| {
        let what = "failed add back dangling items: failed to convert pruned object to last applied version";
        why.within(what)
    };
    let pruned = req.convert(&pruned, &at, version).map_err(lost)?;
    let kept = ensure_named(there, &owned::all(there, &pruned));
    let present = ensure_named(there, &owned::all(there, &merged));
    let pruned = without(there, &merged, &present.difference(&kept).intersection(&removed));
    let pruned = req.convert(&pruned, version, req.api_version)?.into_owned();
    Ok(if pruned == Value::Null { Value::object() } else { pruned })
}

/// Those who own fields after the request.
struct Owners<'a, 'b> {
    place: Place<'a>,
    req: &'b ManagedRequest<'a>,
    own: &'b FieldSet,
    managed: &'b Managed,
}

impl Owners<'_, '_> {
    /// Return the sets of all, by version: that of the pruned object first, then in the order of entries.
    fn sets(&self, first: &str) -> Vec<(SmolStr, FieldSet)> {
        let mut out: Vec<(SmolStr, FieldSet)> = Vec::new();
        let entries = self.managed.0.iter().map(|entry| (&*entry.api_version, &entry.set));
        for (version, set) in entries.chain([(self.req.api_version, self.own)]) {
            match out.iter_mut().find(|(known, _)| known == version) {
                Some((_, all)) => *all = std::mem::take(all).union(set),
                None => out.push((version.into(), set.clone())),
            }
        }
        // Fields that a conversion needs come back before it (`addBackOwnedItems`).
        out.sort_by_key(|(version, _)| version != first);
        out
    }

    /// Add the fields of all to a pruned object of a version. Return it with the version in which it is then.
    fn add_fields(&self, merged: &Value, pruned: Value, version: &SmolStr) -> Result<(Value, SmolStr), Unconverted> {
        let (mut merged, mut pruned, mut at) = (merged.clone(), pruned, version.clone());
        for (version, set) in self.sets(version) {
            let converted = |object: &Value, what: &str| {
                let found = self.req.convert(object, &at, &version).map(Cow::into_owned);
                found.map_err(|why| why.within(&format!("failed to convert {what} object at version {version}")))
            };
            (merged, pruned) = (converted(&merged, "merged")?, converted(&pruned, "pruned")?);
            let there = self.req.place(self.place, &version);
            let present = ensure_named(there, &owned::all(there, &merged));
            let kept = ensure_named(there, &owned::all(there, &pruned)).union(&ensure_named(there, &set));
            pruned = without(there, &merged, &present.difference(&kept));
            at = version;
        }
        Ok((pruned, at))
    }
}

/// Return the set with the struct fields on the way to members added (`EnsureNamedFieldsAreMembers`).
fn ensure_named(place: Place<'_>, set: &FieldSet) -> FieldSet {
    let mut out = FieldSet::new();
    for (element, member, below) in set.nodes() {
        let is_named = matches!(element, PathElement::Field(name) if place.is_named(name));
        let inner = match place.below(element) {
            Some(child) => ensure_named(child, below),
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
