//! Distinct items of a list, found in time linear in its length.

#![allow(clippy::arithmetic_side_effects, reason = "places and counts are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::LazyLock;

use crate::Value;

/// The number of items from which an index is cheaper than a scan.
const MANY: usize = 16;

/// The items of a list that repeat the key of an earlier item.
#[derive(Debug)]
pub struct Duplicates<'a, F> {
    list: &'a [Value],
    key: F,
    /// Computed in advance for a long list; a short one is scanned.
    known: Vec<bool>,
}

impl<'a, K: Eq + Hash, F: Fn(&'a Value) -> K> Duplicates<'a, F> {
    /// Compare the items of a list by `key`.
    #[inline]
    pub fn of(list: &'a [Value], key: F) -> Self {
        let mut known = Vec::new();
        if list.len() > MANY {
            let mut seen = HashSet::with_capacity(list.len());
            known.extend(list.iter().map(|item| !seen.insert(key(item))));
        }
        Self { list, key, known }
    }

    /// Report whether the item at a place repeats the key of an earlier one; false beyond the end.
    #[inline]
    pub fn is_repeat(&self, place: usize) -> bool {
        if self.list.len() > MANY {
            return self.known.get(place).copied().unwrap_or(false);
        }
        let Some(own) = self.list.get(place).map(&self.key) else { return false };
        self.list.iter().take(place).any(|item| (self.key)(item) == own)
    }
}

/// Items of a list by their key.
#[derive(Clone, Debug)]
pub struct Lookup<'a, K, F> {
    items: Vec<&'a Value>,
    key: F,
    /// The first and last place of each key, for many items.
    places: Option<HashMap<K, (usize, usize)>>,
}

impl<'a, K: Eq + Hash, F: Fn(&'a Value) -> K> Lookup<'a, K, F> {
    /// Index items by `key`.
    #[inline]
    pub fn of(items: impl IntoIterator<Item = &'a Value>, key: F) -> Self {
        let items: Vec<_> = items.into_iter().collect();
        let places = (items.len() > MANY).then(|| {
            let mut places = HashMap::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                places.entry(key(item)).or_insert((at, at)).1 = at;
            }
            places
        });
        Self { items, key, places }
    }

    /// Return the first item of a key.
    #[inline]
    pub fn first(&self, key: &K) -> Option<&'a Value> {
        if let Some(places) = &self.places {
            return places.get(key).and_then(|(first, _)| self.items.get(*first).copied());
        }
        self.items.iter().copied().find(|item| (self.key)(item) == *key)
    }

    /// Return the last item of a key.
    #[inline]
    pub fn last(&self, key: &K) -> Option<&'a Value> {
        if let Some(places) = &self.places {
            return places.get(key).and_then(|(_, last)| self.items.get(*last).copied());
        }
        self.items.iter().rev().copied().find(|item| (self.key)(item) == *key)
    }

    /// Report whether an item has a key.
    #[inline]
    pub fn has(&self, key: &K) -> bool {
        self.first(key).is_some()
    }
}

/// Keys seen so far.
#[derive(Debug)]
pub struct KeySet<K> {
    few: Vec<K>,
    many: Option<HashSet<K>>,
}

impl<K> Default for KeySet<K> {
    #[inline]
    fn default() -> Self {
        Self { few: Vec::new(), many: None }
    }
}

impl<K: Eq + Hash> KeySet<K> {
    /// Report whether a key was seen.
    #[inline]
    pub fn contains(&self, key: &K) -> bool {
        self.many.as_ref().map_or_else(|| self.few.contains(key), |many| many.contains(key))
    }

    /// Add a key and report whether it is new.
    #[inline]
    pub fn insert(&mut self, key: K) -> bool {
        if let Some(many) = &mut self.many {
            return many.insert(key);
        }
        if self.few.contains(&key) {
            return false;
        }
        self.few.push(key);
        if self.few.len() > MANY {
            self.many = Some(self.few.drain(..).collect());
        }
        true
    }

    /// Return the number of keys seen.
    pub fn len(&self) -> usize {
        self.many.as_ref().map_or(self.few.len(), HashSet::len)
    }

    /// Report whether no key was seen.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: Eq + Hash> FromIterator<K> for KeySet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut seen = Self::default();
        for key in keys {
            seen.insert(key);
        }
        seen
    }
}

/// A whole value as a key: its hash is equal for equal values, whatever the order of members.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whole<'a>(pub &'a Value);

/// No number of JSON is unequal to itself.
impl Eq for Whole<'_> {}

impl Hash for Whole<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // One secret for all: the hash of members must not depend on their order.
        #[allow(
            clippy::disallowed_methods,
            reason = "a secret of the process, which decides about nothing that is shown"
        )]
        static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        std::mem::discriminant(self.0).hash(state);
        match self.0 {
            Value::Null => {}
            Value::Bool(b) => b.hash(state),
            Value::Int(n) => n.hash(state),
            Value::Float(f) => (if f.get() == 0.0 { 0 } else { f.to_bits() }).hash(state),
            Value::Str(text) | Value::Raw(text) => text.hash(state),
            Value::Array(items) => {
                items.len().hash(state);
                for item in items {
                    Whole(item).hash(state);
                }
            }
            Value::Object(map) => {
                let member = |(key, value): &_| KEYS.hash_one((key, Whole(value)));
                map.iter().map(member).fold(0_u64, u64::wrapping_add).hash(state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Duplicates, KeySet, Lookup, MANY, Whole};
    use crate::{Map, Value};

    fn named_values(names: &[usize]) -> Vec<Value> {
        let item = |n: &usize| Value::Object(Map::from_unique(vec![("name".into(), Value::from(format!("n{n}")))]));
        names.iter().map(item).collect()
    }

    /// Short and long lists give the same results.
    #[test]
    fn what_comes_again_is_told_of_lists_of_any_length() {
        for length in [3, MANY, MANY + 1, 100] {
            let numbers: Vec<usize> = (0..length).map(|i| i % (length - 1)).collect();
            let list = named_values(&numbers);
            let duplicates = Duplicates::of(&list, |v| v.str_at(&["name"]));
            let whole = Duplicates::of(&list, Whole);
            let found: Vec<usize> = (0..=length).filter(|i| duplicates.is_repeat(*i)).collect();
            assert_eq!(found, [length - 1], "of {length}");
            assert!((0..length).all(|i| duplicates.is_repeat(i) == whole.is_repeat(i)));
            let lookup = Lookup::of(&list, |v| v.str_at(&["name"]));
            assert!(std::ptr::eq(lookup.first(&"n0").expect("it is there"), &raw const list[0]));
            assert!(std::ptr::eq(lookup.last(&"n0").expect("it is there"), &raw const list[length - 1]));
            assert!(!lookup.has(&"none"));
            let mut seen = KeySet::default();
            assert_eq!(numbers.iter().filter(|n| !seen.insert(**n)).count(), 1);
            assert_eq!((seen.len(), seen.contains(&0), seen.contains(&length)), (length - 1, true, false));
        }
    }

    /// The order of members does not matter.
    #[test]
    fn a_value_is_the_key_of_what_equals_it() {
        let of = |pairs: [(&str, i64); 2]| {
            Value::Object(Map::from_unique(pairs.map(|(k, n)| (k.into(), Value::Int(n))).to_vec()))
        };
        let (turned, known) = (of([("b", 1), ("a", 7)]), of([("a", 39), ("b", 1)]));
        let mut seen = KeySet::default();
        let values: Vec<Value> = (0..40).map(|n| of([("a", n), ("b", 1)])).collect();
        assert!(values.iter().all(|v| seen.insert(Whole(v))));
        assert!(!seen.insert(Whole(&turned)));
        assert!(seen.contains(&Whole(&known)));
    }
}
