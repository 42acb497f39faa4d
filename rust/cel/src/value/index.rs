//! Places of values by a hash: large maps and sets are searched in constant time.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use smallvec::SmallVec;

use super::Val;

/// The number of values from which an index is worth its making.
pub(crate) const MANY: usize = 16;

/// The places of values. Those without a hash are in one list, as are those that have none to be found by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    state: RandomState,
    places: HashMap<u64, SmallVec<[usize; 1]>>,
    others: Vec<usize>,
}

impl Index {
    pub fn add(&mut self, hash: Option<u64>, place: usize) {
        match hash {
            Some(hash) => self.places.entry(hash).or_default().push(place),
            None => self.others.push(place),
        }
    }

    /// Return the places of a hash in their order: those of equal values are among them, and of few others.
    pub fn candidates(&self, hash: Option<u64>) -> &[usize] {
        match hash {
            Some(hash) => self.places.get(&hash).map_or(&[], SmallVec::as_slice),
            None => &self.others,
        }
    }

    /// Return a number that equal values share; none for types whose values are compared one by one.
    pub fn hash(&self, value: &Val<'_>) -> Option<u64> {
        // Numbers of different types are compared as doubles. Negative zero equals zero.
        let number = |n: f64| Some(self.state.hash_one((n + 0.0).to_bits()));
        match value {
            Val::Bool(b) => Some(self.state.hash_one(b)),
            Val::Str(text) => Some(self.state.hash_one(&**text)),
            Val::Int(n) => number(*n as f64),
            Val::Uint(n) => number(*n as f64),
            Val::Double(n) => number(*n),
            _ => None,
        }
    }

    /// Return a number that equal rows of values share.
    pub fn hash_row<'a>(&self, values: impl Iterator<Item = Option<Val<'a>>>) -> Option<u64> {
        values
            .map(|value| value.map_or(Some(0), |value| self.hash(&value)))
            .try_fold(0, |sum, hash| hash.map(|hash| self.state.hash_one((sum, hash))))
    }
}
