//! Searches in sets and in maps by keys, which are lists.

use hydrofoil_types::Value;
use smol_str::SmolStr;

use super::index::{Index, MANY};
use super::{Fail, List, Table, Val};
use crate::decl::Shape;

/// The items of a list, each to be found repeatedly.
pub(crate) struct Finder<'l, 'a> {
    list: &'l List<'a>,
    keys: &'l [SmolStr],
    /// Of a large list whose items are all valid.
    index: Option<Index>,
}

impl<'l, 'a> Finder<'l, 'a> {
    /// Search a set.
    pub fn of_set(list: &'l List<'a>) -> Self {
        Self { list, keys: &[], index: build_index(list, |index, item| index.hash(item)) }
    }

    /// Search a map by keys.
    pub fn of_keyed(list: &'l List<'a>, keys: &'l [SmolStr]) -> Self {
        Self { list, keys, index: build_index(list, |index, item| hash(index, item, keys)) }
    }

    /// Report whether the set has an item. Upstream compares converted values with unconverted items, so that it does
    /// not find integers declared as numbers (`unstructuredSetList.getSet`).
    pub fn holds(&self, value: &Val<'a>) -> Result<bool, Fail> {
        let converted = |i: usize| match self.list {
            List::Data(items, decl) => {
                matches!(items.get(i), Some(Value::Int(_)))
                    && decl.element().is_some_and(|d| matches!(d.shape, Shape::Double))
            }
            List::Own(_) => false,
        };
        let found = self.first(|index| index.hash(value), |i, item| Ok(!converted(i) && item.equal(value)?));
        found.map(|found| found.is_some())
    }

    /// Return the item with the same keys as another.
    pub fn same_keys(&self, like: &Val<'a>) -> Result<Option<Val<'a>>, Fail> {
        let Val::Map(wanted) = like else { return Ok(None) };
        self.first(|index| hash(index, like, self.keys), |_, item| same(item, wanted, self.keys))
    }

    fn first(
        &self,
        hash: impl Fn(&Index) -> Option<u64>,
        fits: impl Fn(usize, &Val<'a>) -> Result<bool, Fail>,
    ) -> Result<Option<Val<'a>>, Fail> {
        let look = |i: usize| match self.list.get(i) {
            Some(item) => item.and_then(|item| Ok(fits(i, &item)?.then_some(item))),
            None => Ok(None),
        };
        let found = match &self.index {
            Some(index) => index.candidates(hash(index)).iter().map(|i| look(*i)).find_map(Result::transpose),
            None => (0..self.list.len()).map(look).find_map(Result::transpose),
        };
        found.transpose()
    }
}

fn build_index<'a>(list: &List<'a>, hash: impl Fn(&Index, &Val<'a>) -> Option<u64>) -> Option<Index> {
    if list.len() < MANY {
        return None;
    }
    let mut index = Index::default();
    for (i, item) in list.iter().enumerate() {
        let hash = hash(&index, &item.ok()?);
        index.add(hash, i);
    }
    Some(index)
}

/// Return the hash of the keys of an item.
fn hash(index: &Index, item: &Val<'_>, keys: &[SmolStr]) -> Option<u64> {
    let Val::Map(map) = item else { return None };
    index.hash_row(keys.iter().map(|key| map.member(key).and_then(Result::ok)))
}

/// Report whether an item has the keys of another.
fn same<'a>(item: &Val<'a>, like: &Table<'a>, keys: &[SmolStr]) -> Result<bool, Fail> {
    let Val::Map(map) = item else { return Ok(false) };
    for key in keys {
        let same = match (map.member(key), like.member(key)) {
            (Some(a), Some(b)) => a?.equal(&b?)?,
            (a, b) => a.is_none() && b.is_none(),
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}
