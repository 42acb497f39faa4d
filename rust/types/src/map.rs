//! The members of an object.

#![allow(clippy::arithmetic_side_effects, reason = "places and counts are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use std::collections::HashMap;
use std::sync::OnceLock;

use smol_str::SmolStr;

use crate::Value;

/// The number of members from which look-up uses an index: known types have fewer fields.
const MANY: usize = 64;

type Member = (SmolStr, Value);

/// The members of an object, in order, with unique keys.
///
/// Objects of known types have few members, so look-up is a scan; maps with user-chosen keys are kept sorted by the
/// decoder and are iterated. A large object gets an index at its first look-up.
#[derive(Clone, Debug)]
pub struct Map(Members);

#[derive(Clone, Debug)]
enum Members {
    Few(Vec<Member>),
    Many(Box<Many>),
}

/// Members with an index. Clients choose the keys: their hash has a secret.
#[derive(Debug, Default)]
struct Many {
    members: Vec<Member>,
    index: OnceLock<HashMap<SmolStr, u32>>,
}

impl Clone for Many {
    fn clone(&self) -> Self {
        Self::of(self.members.clone())
    }
}

impl Many {
    fn of(members: Vec<Member>) -> Self {
        Self { members, index: OnceLock::new() }
    }

    #[cold]
    #[inline(never)]
    fn get(&self, key: &str) -> Option<&Value> {
        self.members.get(self.place(key)?).map(|(_, value)| value)
    }

    #[cold]
    #[inline(never)]
    fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        let at = self.place(key)?;
        self.members.get_mut(at).map(|(_, value)| value)
    }

    #[cold]
    #[inline(never)]
    fn place(&self, key: &str) -> Option<usize> {
        let index = self.index.get_or_init(|| {
            self.members.iter().enumerate().rev().map(|(at, (key, _))| (key.clone(), at as u32)).collect()
        });
        index.get(key).map(|at| *at as usize)
    }

    fn push(&mut self, member: Member) {
        if let Some(index) = self.index.get_mut() {
            index.insert(member.0.clone(), self.members.len() as u32);
        }
        self.members.push(member);
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Map {
    /// Report whether the same keys have equal values, in any order.
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        // Keys first: each pair of values is compared only once, or deep objects take exponential time.
        if self.keys().eq(other.keys()) {
            return self.iter().zip(other).all(|(a, b)| a.1 == b.1);
        }
        let mut a: Vec<_> = self.iter().collect();
        let mut b: Vec<_> = other.iter().collect();
        a.sort_by(|x, y| x.0.cmp(&y.0));
        b.sort_by(|x, y| x.0.cmp(&y.0));
        a.iter().map(|m| &m.0).eq(b.iter().map(|m| &m.0)) && a.iter().zip(&b).all(|(a, b)| a.1 == b.1)
    }
}

impl Map {
    /// Return an empty object.
    #[inline]
    pub const fn new() -> Self {
        Self(Members::Few(Vec::new()))
    }

    /// Return an object of members whose keys the caller knows to be distinct.
    #[inline]
    pub fn from_unique(members: Vec<(SmolStr, Value)>) -> Self {
        if members.len() > MANY {
            return Self(Members::Many(Box::new(Many::of(members))));
        }
        Self(Members::Few(members))
    }

    #[inline]
    fn members(&self) -> &Vec<Member> {
        match &self.0 {
            Members::Few(members) => members,
            Members::Many(many) => &many.members,
        }
    }

    /// Return the members for changes that keep each key in its place.
    #[inline]
    fn values_mut(&mut self) -> &mut Vec<Member> {
        match &mut self.0 {
            Members::Few(members) => members,
            Members::Many(many) => &mut many.members,
        }
    }

    /// Return the members for changes of their places.
    fn members_mut(&mut self) -> &mut Vec<Member> {
        match &mut self.0 {
            Members::Few(members) => members,
            Members::Many(many) => {
                many.index.take();
                &mut many.members
            }
        }
    }

    #[inline]
    fn place(&self, key: &str) -> Option<usize> {
        match &self.0 {
            Members::Few(members) => members.iter().position(|(k, _)| k == key),
            Members::Many(many) => many.place(key),
        }
    }

    /// Return the number of members.
    #[inline]
    pub fn len(&self) -> usize {
        self.members().len()
    }

    /// Report whether there are no members.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.members().is_empty()
    }

    /// Return the value of `key`.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Value> {
        match &self.0 {
            Members::Few(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            Members::Many(many) => many.get(key),
        }
    }

    /// Return the value of `key` for change.
    #[inline]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        match &mut self.0 {
            Members::Few(members) => members.iter_mut().find(|(k, _)| k == key).map(|(_, v)| v),
            Members::Many(many) => many.get_mut(key),
        }
    }

    /// Report whether `key` is present.
    #[inline]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Return the string at `key`; `""` if absent.
    #[inline]
    pub fn str(&self, key: &str) -> &str {
        self.get(key).and_then(Value::as_str).unwrap_or("")
    }

    /// Return the value of `key` for change; insert null if absent.
    pub fn entry(&mut self, key: &str) -> &mut Value {
        let at = self.place(key).unwrap_or_else(|| {
            self.append((SmolStr::new(key), Value::Null));
            self.len() - 1
        });
        &mut self.values_mut()[at].1
    }

    /// Return the object at `key` for change; insert one if it is absent or not an object.
    pub fn object_entry(&mut self, key: &str) -> &mut Map {
        let slot = self.entry(key);
        if slot.as_object().is_none() {
            *slot = Value::object();
        }
        match slot {
            Value::Object(map) => map,
            _ => unreachable!("it was just made an object"),
        }
    }

    /// Set `key`, in its place or at the end.
    pub fn set(&mut self, key: impl AsRef<str> + Into<SmolStr>, value: impl Into<Value>) {
        match self.get_mut(key.as_ref()) {
            Some(slot) => *slot = value.into(),
            None => self.append((key.into(), value.into())),
        }
    }

    /// Append a member whose key is known to be absent.
    #[inline]
    pub fn push(&mut self, key: impl Into<SmolStr>, value: impl Into<Value>) {
        self.append((key.into(), value.into()));
    }

    #[inline]
    fn append(&mut self, member: Member) {
        match &mut self.0 {
            Members::Few(members) if members.len() < MANY => members.push(member),
            _ => self.append_to_many(member),
        }
    }

    #[cold]
    fn append_to_many(&mut self, member: Member) {
        match &mut self.0 {
            Members::Few(members) => {
                let mut many = Many::of(std::mem::take(members));
                many.push(member);
                self.0 = Members::Many(Box::new(many));
            }
            Members::Many(many) => many.push(member),
        }
    }

    /// Remove `key` and return its value. Later members move up: to remove many keys, use `retain`.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.place(key)?;
        Some(self.members_mut().remove(at).1)
    }

    /// Return the members in order.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, (SmolStr, Value)> {
        self.members().iter()
    }

    /// Return the members for change, in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&SmolStr, &mut Value)> {
        self.values_mut().iter_mut().map(|(k, v)| (&*k, v))
    }

    /// Return the keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &SmolStr> {
        self.iter().map(|(k, _)| k)
    }

    /// Sort the members by key, as Go writes maps.
    pub fn sort_keys(&mut self) {
        if !self.members().is_sorted_by(|a, b| a.0 <= b.0) {
            self.members_mut().sort_by(|a, b| a.0.cmp(&b.0));
        }
    }

    /// Keep the members for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value) -> bool) {
        self.members_mut().retain_mut(|(k, v)| keep(k, v));
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a (SmolStr, Value);
    type IntoIter = std::slice::Iter<'a, (SmolStr, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Map {
    type Item = (SmolStr, Value);
    type IntoIter = std::vec::IntoIter<(SmolStr, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        match self.0 {
            Members::Few(members) => members.into_iter(),
            Members::Many(many) => many.members.into_iter(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MANY, Map};
    use crate::Value;

    /// An object is as small as its list of members.
    #[test]
    fn an_index_costs_small_objects_nothing() {
        assert_eq!(size_of::<Map>(), size_of::<Vec<u8>>());
    }

    /// A large object behaves like a small one, however it became large.
    #[test]
    fn many_members_are_found_as_few_are() {
        let mut map = Map::new();
        for i in 0..3 * MANY as i64 {
            map.set(format!("k{i}"), i);
        }
        assert_eq!(map.get("k70"), Some(&Value::Int(70)));
        assert_eq!(map.remove("k3"), Some(Value::Int(3)));
        assert_eq!(
            (map.get("k3"), map.get("k4"), map.get("k191")),
            (None, Some(&Value::Int(4)), Some(&Value::Int(191)))
        );
        *map.entry("new") = Value::Bool(true);
        map.retain(|key, _| key != "k0");
        map.sort_keys();
        assert_eq!((map.get("new"), map.get("k0")), (Some(&Value::Bool(true)), None));
        let again = Map::from_unique(map.clone().into_iter().rev().collect());
        assert_eq!(again, map);
        assert!(again.iter().rev().eq(map.iter()));
        assert_eq!(map.len(), 3 * MANY - 1);
    }

    /// Members that are looked up, changed and added in turn are each found in constant time.
    #[test]
    fn look_up_does_not_grow_with_the_object() {
        let mut map = Map::new();
        for i in 0..200_000_i64 {
            map.set(i.to_string(), i);
        }
        assert!((0..200_000_i64).all(|i| map.get(&i.to_string()) == Some(&Value::Int(i))));
    }
}
