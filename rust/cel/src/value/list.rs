//! Lists while an expression is evaluated.

use std::rc::Rc;

use hydrofoil_types::Value;
use smol_str::SmolStr;

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

    /// Report whether a set has an item. Upstream compares converted values with unconverted items, so that it does not
    /// find integers declared as numbers (`unstructuredSetList.getSet`).
    pub fn holds(&self, value: &Val<'a>) -> Result<bool, Fail> {
        let converted = |i: usize| match self {
            Self::Data(items, decl) => {
                matches!(items.get(i), Some(Value::Int(_)))
                    && decl.element().is_some_and(|d| matches!(d.shape, Shape::Double))
            }
            Self::Own(_) => false,
        };
        for (i, item) in self.iter().enumerate() {
            if !converted(i) && item?.equal(value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn equal(&self, other: &Self) -> Result<bool, Fail> {
        if self.len() != other.len() {
            return Ok(false);
        }
        for (i, item) in self.iter().enumerate() {
            let item = item?;
            let same = match self.order() {
                Order::Kept => match other.get(i) {
                    Some(found) => item.equal(&found?)?,
                    None => false,
                },
                Order::Set => match other.get(i) {
                    Some(theirs) => self.holds(&theirs?)?,
                    None => false,
                },
                Order::Keyed(keys) => match other.keyed(&item, keys)? {
                    Some(found) => item.equal(&found)?,
                    None => false,
                },
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Return the item with the same keys as another.
    pub fn keyed(&self, like: &Val<'a>, keys: &[SmolStr]) -> Result<Option<Val<'a>>, Fail> {
        let Val::Map(like) = like else { return Ok(None) };
        for item in self.iter() {
            let item = item?;
            let Val::Map(map) = &item else { continue };
            let mut same = true;
            for key in keys {
                same &= match (map.named(key), like.named(key)) {
                    (Some(a), Some(b)) => a?.equal(&b?)?,
                    (a, b) => a.is_none() && b.is_none(),
                };
            }
            if same {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }
}
