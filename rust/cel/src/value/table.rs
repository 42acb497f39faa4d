//! Objects and maps while an expression is evaluated.

use std::rc::Rc;

use hydrofoil_types::{Map, Value};

use super::entries::Entries;
use super::{Fail, Out, Text, Val};
use crate::decl::{Decl, Shape};

/// An object or map of the object, or a new one.
#[derive(Clone, Debug)]
pub(crate) enum Table<'a> {
    Data(&'a Map, &'a Decl),
    Own(Rc<Entries<'a>>),
}

impl<'a> Table<'a> {
    pub fn len(&self) -> usize {
        match self {
            Self::Data(map, _) => map.len(),
            Self::Own(entries) => entries.len(),
        }
    }

    /// Return the member by its name in expressions.
    pub fn field(&self, escaped: &str) -> Option<Out<'a>> {
        match self {
            Self::Data(map, decl) => {
                if let Some(of) = decl.element() {
                    return map.get(escaped).map(|v| Val::of(v, of));
                }
                let field = decl.field(escaped)?;
                // A null field counts as absent, unlike a null value of a map.
                let found = map.get(&field.name).filter(|v| !matches!(v, Value::Null));
                found.map(|v| Val::of(v, &field.decl))
            }
            Self::Own(_) => self.get(&Val::Str(Text::Own(escaped.into()))),
        }
    }

    /// Return the member by its name in the object.
    pub fn member(&self, name: &str) -> Option<Out<'a>> {
        match self {
            Self::Data(map, decl) => {
                let decl = decl.member(name).or_else(|| decl.element())?;
                map.get(name).map(|v| Val::of(v, decl))
            }
            Self::Own(_) => self.field(name),
        }
    }

    /// Return the value of a key.
    pub fn get(&self, key: &Val<'a>) -> Option<Out<'a>> {
        match (self, key) {
            (Self::Data(..), Val::Str(key)) => self.field(key),
            (Self::Data(..), _) => None,
            (Self::Own(entries), _) => entries.get(key).cloned().map(Ok),
        }
    }

    /// Return the keys as in expressions.
    pub fn keys(&self) -> Vec<Val<'a>> {
        match self {
            Self::Data(map, decl) => map
                .iter()
                .filter_map(|(key, _)| match &decl.shape {
                    Shape::Object(fields) => {
                        let found: &'a _ = fields.field(key)?;
                        Some(Val::Str(Text::Ref(found.escaped.as_deref()?)))
                    }
                    _ => Some(Val::Str(Text::Ref(key))),
                })
                .collect(),
            Self::Own(entries) => entries.iter().map(|(k, _)| k.clone()).collect(),
        }
    }

    pub(super) fn equal(&self, other: &Self) -> Result<bool, Fail> {
        if let (Self::Data(a, decl), Self::Data(b, _)) = (self, other) {
            return same_members(a, b, decl);
        }
        if self.len() != other.len() {
            return Ok(false);
        }
        for key in self.keys() {
            let (Some(a), Some(b)) = (self.get(&key), other.get(&key)) else { return Ok(false) };
            if !a?.equal(&b?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Report whether members are equal; those without a declaration are compared as JSON.
fn same_members(a: &Map, b: &Map, decl: &Decl) -> Result<bool, Fail> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, value) in a {
        let Some(other) = b.get(key) else { return Ok(false) };
        let same = match decl.member(key).or_else(|| decl.element()) {
            Some(decl) => Val::of(value, decl)?.equal(&Val::of(other, decl)?)?,
            None => value == other,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}
