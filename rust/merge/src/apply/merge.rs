//! The merge of a configuration into the live object (structured-merge-diff `typed/merge.go`).

#![allow(clippy::arithmetic_side_effects, reason = "places and depths are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hydrofoil_types::{Map, Value};

use crate::fieldset::PathElement;
use crate::place::{Atom, Place};

/// Merge two values of a place; `None` if nothing is left.
pub(super) fn merge(place: Place<'_>, live: Option<&Value>, config: Option<&Value>) -> Option<Value> {
    let config_or_live = || config.or(live).cloned();
    match place.atom {
        Atom::Leaf => config_or_live(),
        Atom::Struct(_) | Atom::Map(_) => maps(place, live, config),
        Atom::List(..) => lists(place, live, config),
        Atom::Free => match (live, config) {
            (Some(Value::Object(_)), Some(Value::Object(_) | Value::Null)) => maps(place, live, config),
            _ => config_or_live(),
        },
    }
}

fn maps(place: Place<'_>, live: Option<&Value>, config: Option<&Value>) -> Option<Value> {
    let nothing = Map::new();
    let ours = live.and_then(Value::as_object).unwrap_or(&nothing);
    let theirs = config.and_then(Value::as_object).unwrap_or(&nothing);
    if ours.is_empty() && theirs.is_empty() {
        // Empty and null differ, so each is kept as it is.
        return config.or(live).cloned();
    }
    let wanted: HashMap<_, _> = theirs.iter().map(|(key, value)| (key, value)).collect();
    let known: BTreeSet<_> = ours.keys().collect();
    let of_live = ours.iter().map(|(key, value)| (key, Some(value), wanted.get(key).copied()));
    let of_config = theirs.iter().filter(|(key, _)| !known.contains(key)).map(|(key, value)| (key, None, Some(value)));
    let members = of_live.chain(of_config).filter_map(|(key, live, config)| {
        let merged = merge(place.member(key)?, live, config)?;
        Some((key.clone(), merged))
    });
    let members: Vec<_> = members.collect();
    (!members.is_empty()).then(|| Value::Object(Map::from_unique(members)))
}

/// Merge items by their path elements: shared items are in the order of the configuration, the other live items keep
/// their place among them.
fn lists(place: Place<'_>, live: Option<&Value>, config: Option<&Value>) -> Option<Value> {
    let ours = live.and_then(Value::as_array).unwrap_or(&[]);
    let theirs = config.and_then(Value::as_array).unwrap_or(&[]);
    if ours.is_empty() && theirs.is_empty() {
        return config.or(live).cloned();
    }
    let steps = |items: &'_ [Value]| -> Vec<(PathElement, usize)> {
        items.iter().enumerate().filter_map(|(at, item)| Some((place.element(item).ok()?, at))).collect()
    };
    let (left, right) = (steps(ours), steps(theirs));
    let wanted: BTreeMap<_, _> = right.iter().map(|(element, at)| (element, &theirs[*at])).collect();
    let mut known: BTreeMap<&PathElement, Option<&Value>> = BTreeMap::new();
    for (element, at) in &left {
        // Live items with the same path element are ambiguous and not merged.
        known.entry(element).and_modify(|item| *item = None).or_insert(Some(&ours[*at]));
    }
    let mut shared = right.iter().map(|(element, _)| element).filter(|element| known.contains_key(element)).peekable();
    let mut done: BTreeSet<&PathElement> = BTreeSet::new();
    let mut out = Vec::with_capacity(left.len().max(right.len()));
    let pair = |element: &PathElement| {
        merge(place.item(), known.get(element).copied().flatten(), wanted.get(element).copied())
    };
    let (mut l, mut r) = (0, 0);
    while l < left.len() || r < right.len() {
        if let (Some((element, _)), Some((next, _))) = (left.get(l), right.get(r)) {
            if element == next {
                done.insert(element);
                out.extend(pair(element));
                shared.next();
                (l, r) = (l + 1, r + 1);
                continue;
            }
            if wanted.contains_key(element) && shared.peek().is_some_and(|s| *s != element) {
                // It is shared, but follows later in the configuration.
                l += 1;
                continue;
            }
        }
        if let Some((element, at)) = left.get(l) {
            if !wanted.contains_key(element) {
                out.extend(merge(place.item(), Some(&ours[*at]), None));
                l += 1;
                continue;
            }
            if done.contains(element) {
                l += 1;
            }
        }
        if let Some((element, _)) = right.get(r) {
            done.insert(element);
            out.extend(pair(element));
            r += 1;
            shared.next_if(|s| *s == element);
        }
    }
    (!out.is_empty()).then_some(Value::Array(out))
}
