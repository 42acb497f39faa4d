//! The order of merged lists: first the requested one, then that of the patch, then the live one.

#![allow(clippy::arithmetic_side_effects, reason = "places and depths are bounded by what is in memory")]

use std::collections::{HashMap, HashSet};

use hydrofoil_types::{Map, SmolStr, Value, go};

use super::{PATCH, text};
use crate::PatchError;

/// A scalar as a key of a hash table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ident {
    Null,
    Bool(bool),
    Int(i64),
    Float(u64),
    Str(SmolStr),
}

impl Ident {
    /// Return the key of a scalar; other values are never equal.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Bool(b) => Some(Self::Bool(*b)),
            Value::Int(n) => Some(Self::Int(*n)),
            Value::Float(f) => Some(Self::Float(f.to_bits())),
            Value::Str(s) => Some(Self::Str(s.clone())),
            _ => None,
        }
    }

    /// Return the key of an item: its merge key, or itself in a list without one.
    fn of_item(item: &Value, merge_key: &str) -> Option<Self> {
        if merge_key.is_empty() { Self::of(item) } else { item.get(merge_key).and_then(Self::of) }
    }
}

/// Return the items with only their merge keys, which suffice for the order.
pub(super) fn keys_only(items: &[Value], merge_key: &str) -> Vec<Value> {
    let short = |item: &Value| match item.get(merge_key) {
        Some(key) => {
            let mut map = Map::new();
            map.push(merge_key, key.clone());
            Value::Object(map)
        }
        None => item.clone(),
    };
    items.iter().map(short).collect()
}

/// Return the live list on which the requested order is based after the patch is merged: upstream deletes in place, and
/// as many new items as were deleted take the free space at the end.
pub(super) fn live_after(mut live: Vec<Value>, patch: &[Value], merge_key: &str) -> Vec<Value> {
    let directive = |item: &Value| item.get(PATCH).and_then(Value::as_str).map(SmolStr::from);
    let gone = |item: &&Value| directive(item).as_deref() == Some("delete");
    let gone: HashSet<_> = patch.iter().filter(gone).filter_map(|item| Ident::of_item(item, merge_key)).collect();
    let before = live.len();
    live.retain(|item| Ident::of_item(item, merge_key).is_none_or(|ident| !gone.contains(&ident)));
    let room = before - live.len();
    if room == 0 || patch.iter().any(|item| directive(item).as_deref() == Some("replace")) {
        return live;
    }
    let mut known: HashSet<_> = live.iter().filter_map(|item| Ident::of_item(item, merge_key)).collect();
    let new = |item: &&Value| {
        item.get(PATCH).is_none() && Ident::of_item(item, merge_key).is_some_and(|ident| known.insert(ident))
    };
    let new: Vec<_> = patch.iter().filter(new).take(room).cloned().collect();
    live.extend(new);
    live
}

/// Return the index of the first item of each key.
fn places(items: &[Value], merge_key: &str) -> HashMap<Ident, usize> {
    let mut out = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        if let Some(ident) = Ident::of_item(item, merge_key) {
            out.entry(ident).or_insert(at);
        }
    }
    out
}

/// Order items: requested items in the requested order, the others in the live order, each before the first requested
/// item that follows it in the live list (`normalizeElementOrder`, with the partition before it).
pub(super) fn arrange(
    merged: Vec<Value>,
    wanted: &[Value],
    live: &[Value],
    merge_key: &str,
) -> Result<Vec<Value>, PatchError> {
    if !merge_key.is_empty() {
        for item in merged.iter().chain(wanted) {
            check_key(item, merge_key)?;
        }
    }
    let wanted = places(wanted, merge_key);
    let live = places(live, merge_key);
    let place = |item: &Value, of: &HashMap<Ident, usize>| {
        Ident::of_item(item, merge_key).and_then(|ident| of.get(&ident).copied())
    };
    let (mut first, mut others): (Vec<_>, Vec<_>) = merged.into_iter().partition(|item| place(item, &wanted).is_some());
    let deleted = |item: &Value| item.get(PATCH).and_then(Value::as_str) == Some("delete");
    first.sort_by_key(|item| (deleted(item), place(item, &wanted)));
    others.sort_by_key(|item| (deleted(item), place(item, &live).unwrap_or(usize::MAX)));

    let mut out = Vec::with_capacity(first.len() + others.len());
    let mut others = others.into_iter().peekable();
    for item in first {
        let at = place(&item, &live);
        while let Some(other) = others.next_if(|o| matches!((place(o, &live), at), (Some(o), Some(at)) if o < at)) {
            out.push(other);
        }
        out.push(item);
    }
    out.extend(others);
    Ok(out)
}

/// Check that the patch follows the requested order and has no other items (`validatePatchWithSetOrderList`).
pub(super) fn check(patch: &[Value], wanted: &[Value], merge_key: &str) -> Result<(), PatchError> {
    if patch.is_empty() || wanted.is_empty() {
        return Ok(());
    }
    if !merge_key.is_empty()
        && let Some(item) = patch.iter().find(|i| i.as_object().is_none())
    {
        return Err(text::not_a_map(item));
    }
    let marked = |item: &Value| item.get(PATCH).is_some();
    let deleted = |item: &&Value| !merge_key.is_empty() && item.get(PATCH).and_then(Value::as_str) == Some("delete");
    let mut items = patch.iter().filter(|item| !deleted(item)).peekable();
    let mut order = wanted.iter();
    while let Some(item) = items.peek() {
        // Items with directives are skipped, except after the last requested one.
        if !order.as_slice().is_empty() && marked(item) {
            items.next();
            continue;
        }
        let Some(next) = order.next() else {
            let (patch, wanted) = (go::plain_list(patch), go::plain_list(wanted));
            return Err(PatchError::Internal(format!(
                "The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{wanted}\n"
            )));
        };
        if !merge_key.is_empty() {
            check_key(item, merge_key)?;
            check_key(next, merge_key)?;
        }
        if Ident::of_item(next, merge_key) == Ident::of_item(item, merge_key) {
            items.next();
        }
    }
    Ok(())
}

fn check_key(item: &Value, merge_key: &str) -> Result<(), PatchError> {
    let map = item.as_object().ok_or_else(|| text::not_a_map(item))?;
    if map.contains_key(merge_key) { Ok(()) } else { Err(text::no_merge_key(map, merge_key)) }
}
