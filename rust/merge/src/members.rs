//! The members of an object while a patch is applied to it.

#![allow(clippy::arithmetic_side_effects, reason = "places and depths are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use std::collections::HashMap;

use hydrofoil_types::{Map, SmolStr, Value};

/// The number of members, of the object and of the patch, from which an index is cheaper than a scan.
const MANY: usize = 32;

/// Members that are looked up for each member of a patch: with an index if both are many, since a map is scanned.
pub(crate) enum Members {
    Few(Map),
    Many { slots: Vec<Option<(SmolStr, Value)>>, places: HashMap<SmolStr, usize> },
}

impl Members {
    /// Return the members of a map for a patch with the given number of members.
    pub fn of(map: Map, patch: usize) -> Self {
        if patch < MANY || map.len().max(patch) < 2 * MANY {
            return Self::Few(map);
        }
        let slots: Vec<_> = map.into_iter().map(Some).collect();
        let places = slots.iter().flatten().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
        Self::Many { slots, places }
    }

    /// Return the value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Few(map) => map.get(key),
            Self::Many { slots, places } => slots[*places.get(key)?].as_ref().map(|(_, value)| value),
        }
    }

    /// Return the value of `key` for change; append null if absent.
    pub fn entry(&mut self, key: SmolStr) -> &mut Value {
        match self {
            Self::Few(map) => map.entry(&key),
            Self::Many { slots, places } => {
                let at = *places.entry(key.clone()).or_insert_with(|| {
                    slots.push(None);
                    slots.len() - 1
                });
                &mut slots[at].get_or_insert((key, Value::Null)).1
            }
        }
    }

    /// Remove `key` and return its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        match self {
            Self::Few(map) => map.remove(key),
            Self::Many { slots, places } => slots[places.remove(key)?].take().map(|(_, value)| value),
        }
    }

    /// Return the resulting members in order.
    pub fn into_map(self) -> Map {
        match self {
            Self::Few(map) => map,
            Self::Many { slots, .. } => Map::from_unique(slots.into_iter().flatten().collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MANY, Members};
    use hydrofoil_types::{Map, SmolStr, Value};

    /// Few and many members are changed alike.
    #[test]
    fn many_members_are_changed_as_few_are() {
        let changed = |patch: usize| {
            let keys = (0..3 * MANY).map(|i| (SmolStr::from(format!("k{i}")), Value::Int(1)));
            let mut members = Members::of(Map::from_unique(keys.collect()), patch);
            assert_eq!(matches!(members, Members::Many { .. }), patch >= MANY);
            for key in ["k3", "absent", "k5"] {
                members.remove(key);
            }
            for (key, value) in [("k0", 2), ("new", 3), ("k5", 4), ("new", 5)] {
                *members.entry(key.into()) = Value::Int(value);
            }
            assert_eq!((members.get("k3"), members.get("new")), (None, Some(&Value::Int(5))));
            members.into_map().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(changed(MANY), changed(0));
        assert_eq!(changed(0).len(), 3 * MANY);
    }
}
