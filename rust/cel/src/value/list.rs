//! Lists while an expression is evaluated.

use std::rc::Rc;

use hydrofoil_types::Value;

use super::finder::Finder;
use super::{Fail, Out, Val};
use crate::decl::{Decl, Order, Shape};

/// A list of the object, or a new one.
#[derive(Clone, Debug)]
pub(crate) enum List<'a> {
    Data(&'a [Value], &'a Decl),
    Own(Rc<Vec<Val<'a>>>),
}

impl<'a> List<'a> {
    pub fn len(&self) -> usize {
        match self {
            Self::Data(items, _) => items.len(),
            Self::Own(items) => items.len(),
        }
    }

    pub fn get(&self, at: usize) -> Option<Out<'a>> {
        match self {
            Self::Data(items, decl) => {
                let decl = decl.element()?;
                items.get(at).map(|v| Val::of(v, decl))
            }
            Self::Own(items) => items.get(at).cloned().map(Ok),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Out<'a>> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    pub fn items(&self) -> Result<Vec<Val<'a>>, Fail> {
        self.iter().collect()
    }

    pub fn order(&self) -> &Order {
        match self {
            Self::Data(_, Decl { shape: Shape::List(_, order), .. }) => order,
            _ => &Order::Kept,
        }
    }

    pub fn contains(&self, value: &Val<'a>) -> Result<bool, Fail> {
        for item in self.iter() {
            if item?.equal(value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn equal(&self, other: &Self) -> Result<bool, Fail> {
        if self.len() != other.len() {
            return Ok(false);
        }
        let finder = match self.order() {
            Order::Kept => None,
            Order::Set => Some(Finder::of_set(self)),
            Order::Keyed(keys) => Some(Finder::of_keyed(other, keys)),
        };
        for (i, item) in self.iter().enumerate() {
            let item = item?;
            let same = match (self.order(), &finder, other.get(i)) {
                (Order::Keyed(_), Some(finder), _) => match finder.same_keys(&item)? {
                    Some(found) => item.equal(&found)?,
                    None => false,
                },
                (Order::Set, Some(finder), Some(theirs)) => finder.holds(&theirs?)?,
                (_, _, Some(found)) => item.equal(&found?)?,
                (.., None) => false,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
