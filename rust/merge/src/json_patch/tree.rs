//! A document during many operations: each container on a path is opened once, so that the cost of an operation does
//! not depend on the size of the document.

use std::collections::HashMap;

use hydrofoil_types::{Map, SmolStr, Value};

use super::items::Items;
use super::{absent_member, equal, index, missing, size, split};

/// A part of a document: as decoded, or opened.
pub(super) enum Node {
    Closed(Value),
    Object(Members),
    Array(Items<Node>),
}

/// The members of an opened object, in their order.
#[derive(Default)]
pub(super) struct Members {
    slots: Vec<Option<(SmolStr, Node)>>,
    places: HashMap<SmolStr, usize>,
}

impl Members {
    fn get(&self, key: &str) -> Option<&Node> {
        let slot = self.slots.get(*self.places.get(key)?)?;
        slot.as_ref().map(|(_, node)| node)
    }

    fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let slot = self.slots.get_mut(*self.places.get(key)?)?;
        slot.as_mut().map(|(_, node)| node)
    }

    fn set(&mut self, key: String, node: Node) {
        if let Some(slot) = self.get_mut(&key) {
            *slot = node;
            return;
        }
        let key = SmolStr::from(key);
        self.places.insert(key.clone(), self.slots.len());
        self.slots.push(Some((key, node)));
    }

    fn remove(&mut self, key: &str) -> Option<Node> {
        let slot = self.slots.get_mut(self.places.remove(key)?)?;
        slot.take().map(|(_, node)| node)
    }

    fn iter(&self) -> impl Iterator<Item = &(SmolStr, Node)> {
        self.slots.iter().flatten()
    }
}

impl Node {
    /// Open a container, so that its parts can be changed.
    fn open(&mut self) {
        if !matches!(self, Self::Closed(Value::Object(_) | Value::Array(_))) {
            return;
        }
        *self = match std::mem::replace(self, Self::Closed(Value::Null)) {
            Self::Closed(Value::Object(map)) => {
                let mut members = Members::default();
                for (key, value) in map {
                    members.places.insert(key.clone(), members.slots.len());
                    members.slots.push(Some((key, Self::Closed(value))));
                }
                Self::Object(members)
            }
            Self::Closed(Value::Array(items)) => Self::Array(items.into_iter().map(Self::Closed).collect()),
            other => other,
        };
    }

    /// Return the resulting value.
    pub(super) fn close(self) -> Value {
        match self {
            Self::Closed(value) => value,
            Self::Object(members) => {
                let members = members.slots.into_iter().flatten().map(|(key, node)| (key, node.close()));
                Value::Object(Map::from_unique(members.collect()))
            }
            Self::Array(items) => Value::Array(items.into_iter().map(Self::close).collect()),
        }
    }

    /// Return a copy of the value.
    fn value(&self) -> Value {
        match self {
            Self::Closed(value) => value.clone(),
            Self::Object(members) => {
                Value::Object(Map::from_unique(members.iter().map(|(key, node)| (key.clone(), node.value())).collect()))
            }
            Self::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
        }
    }

    fn equals(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Closed(own), other) => equal(own, other),
            (Self::Object(members), Value::Object(map)) => {
                members.places.len() == map.len()
                    && members.iter().all(|(key, node)| map.get(key).is_some_and(|other| node.equals(other)))
            }
            (Self::Array(items), Value::Array(list)) => {
                items.len() == list.len() && items.iter().zip(list).all(|(node, other)| node.equals(other))
            }
            _ => false,
        }
    }

    /// Return the container of the last part of a pointer, opened.
    fn holder(&mut self, path: &str) -> Result<(&mut Self, String), String> {
        let (parts, last) = split(path)?;
        let mut here = self;
        for part in parts {
            here.open();
            here = match here {
                Self::Object(members) => members.get_mut(&part),
                Self::Array(items) => match index(&part, items.len()) {
                    Ok(at) => items.get_mut(at),
                    Err(_) => None,
                },
                Self::Closed(_) => None,
            }
            .ok_or_else(missing)?;
        }
        here.open();
        Ok((here, last))
    }

    /// Return the value at a pointer; `None` for an absent member of an object.
    fn read(&mut self, path: &str) -> Result<Option<&Self>, String> {
        let (here, last) = self.holder(path)?;
        match here {
            Self::Object(members) => Ok(members.get(&last)),
            Self::Array(items) => Ok(items.get(index(&last, items.len())?)),
            Self::Closed(_) => Err(missing()),
        }
    }

    fn add(&mut self, path: &str, node: Self) -> Result<(), String> {
        let (here, last) = self.holder(path)?;
        match here {
            Self::Object(members) => members.set(last, node),
            Self::Array(items) if last == "-" => items.insert(items.len(), node),
            Self::Array(items) => {
                let at = index(&last, items.len() + 1)?;
                items.insert(at, node);
            }
            Self::Closed(_) => return Err(missing()),
        }
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<Self, String> {
        let (here, last) = self.holder(path)?;
        match here {
            Self::Object(members) => members.remove(&last).ok_or_else(|| absent_member(&last)),
            Self::Array(items) => {
                let at = index(&last, items.len())?;
                items.remove(at).ok_or_else(missing)
            }
            Self::Closed(_) => Err(missing()),
        }
    }
}

impl super::Document for Node {
    type Part = Self;

    fn put(&mut self, path: &str, value: Value) -> Result<(), String> {
        self.add(path, Self::Closed(value))
    }

    fn give(&mut self, path: &str, part: Self) -> Result<(), String> {
        self.add(path, part)
    }

    fn take(&mut self, path: &str) -> Result<Self, String> {
        self.remove(path)
    }

    fn exchange(&mut self, path: &str, value: Value) -> Result<(), String> {
        let (here, last) = self.holder(path)?;
        match here {
            Self::Object(members) => members.set(last, Self::Closed(value)),
            Self::Array(items) => {
                let at = index(&last, items.len())?;
                if let Some(slot) = items.get_mut(at) {
                    *slot = Self::Closed(value);
                }
            }
            Self::Closed(_) => return Err(missing()),
        }
        Ok(())
    }

    fn become_whole(&mut self, value: Value) {
        *self = Self::Closed(value);
    }

    fn depth(&self) -> usize {
        match self {
            Self::Closed(value) => value.depth(),
            Self::Object(members) => 1 + members.iter().map(|(_, node)| node.depth()).max().unwrap_or(0),
            Self::Array(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
        }
    }

    fn copy_at(&mut self, path: &str) -> Result<(Value, usize), String> {
        let copy = self.read(path)?.map(Self::value).unwrap_or_default();
        let bytes = size(&copy);
        Ok((copy, bytes))
    }

    fn is(&mut self, path: &str, value: &Value) -> Result<bool, String> {
        if path.is_empty() {
            return Ok(self.equals(value));
        }
        Ok(self.read(path)?.map_or_else(|| equal(&Value::Null, value), |found| found.equals(value)))
    }
}
