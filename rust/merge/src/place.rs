//! The schema of a place in an object.

use std::borrow::Cow;

use hydrofoil_types::{Arena, Field, ListType, Map, Nature, Schema, Shape, SmolStr, TypeDef, Value};

use crate::equal::equal;
use crate::fieldset::PathElement;

/// A place in an object and its unit of ownership (kube-openapi `pkg/schemaconv`).
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    arena: &'a Arena,
    pub atom: Atom<'a>,
}

/// The unit of ownership of a value.
#[derive(Clone, Copy)]
pub(crate) enum Atom<'a> {
    /// As a whole: scalars, and all atomic values.
    Leaf,
    /// Field by field.
    Struct(&'a TypeDef),
    /// Key by key.
    Map(&'a Shape),
    /// Item by item; without keys the items are scalars.
    List(&'a Shape, &'a [SmolStr]),
    /// Depending on the value: maps key by key, all else as a whole.
    Free,
}

impl<'a> Place<'a> {
    /// Return the whole object.
    pub fn root(schema: &'a Schema) -> Self {
        Self { arena: &schema.arena, atom: Atom::Struct(schema.root()) }
    }

    fn of(self, shape: &'a Shape, field: Option<&'a Field>) -> Self {
        let atomic = field.is_some_and(|f| f.atomic);
        let atom = match shape {
            Shape::List(item) => match field.and_then(keys) {
                Some(keys) => Atom::List(item, keys),
                None => Atom::Leaf,
            },
            _ if atomic => Atom::Leaf,
            Shape::Map(value) => Atom::Map(value),
            Shape::Any => Atom::Free,
            Shape::Type(id) => match self.arena.get(*id) {
                def if def.nature == Nature::Wrapped => {
                    return def.fields.first().map_or(Self { arena: self.arena, atom: Atom::Leaf }, |f| self.field(f));
                }
                def if def.special.is_none() && !def.atomic => Atom::Struct(def),
                _ => Atom::Leaf,
            },
            _ => Atom::Leaf,
        };
        Self { arena: self.arena, atom }
    }

    /// Return the place of a member; `None` if the schema has no such field.
    pub fn member(self, key: &str) -> Option<Self> {
        match self.atom {
            Atom::Struct(def) => match def.field(key, 0) {
                Some((_, field)) => Some(self.of(&field.shape, Some(field))),
                None => (def.nature == Nature::Open).then_some(Self { arena: self.arena, atom: Atom::Free }),
            },
            Atom::Map(value) => Some(self.of(value, None)),
            Atom::Free => Some(self),
            Atom::Leaf | Atom::List(..) => None,
        }
    }

    /// Return the types.
    pub fn arena(self) -> &'a Arena {
        self.arena
    }

    /// Return the place of a field.
    pub fn field(self, field: &'a Field) -> Self {
        self.of(&field.shape, Some(field))
    }

    /// Return the place of an item of an atomic list.
    pub fn item_of(self, shape: &'a Shape) -> Self {
        self.of(shape, None)
    }

    /// Return the place of the items of a list.
    pub fn item(self) -> Self {
        match self.atom {
            Atom::List(item, _) => self.of(item, None),
            _ => self,
        }
    }

    /// Return the place below a path element.
    pub fn below(self, element: &PathElement) -> Option<Self> {
        match (element, self.atom) {
            (PathElement::Field(name), _) => self.member(name),
            (_, Atom::List(..)) => Some(self.item()),
            _ => None,
        }
    }

    /// Report whether a member is a struct field, whose mere presence does not make it a member of sets.
    pub fn is_named(self, key: &str) -> bool {
        matches!(self.atom, Atom::Struct(def) if def.field(key, 0).is_some())
    }

    /// Return the path element of an item (`typed/helpers.go listItemToPathElement`), or the error if it has none.
    pub fn element(self, item: &Value) -> Result<PathElement, String> {
        let Atom::List(_, keys) = self.atom else {
            return Err("invalid indexing of non-associative list".to_owned());
        };
        if keys.is_empty() {
            let wrong = match item {
                Value::Object(_) => "associative list without keys has an element that's a map type",
                Value::Array(_) => "not supported: associative list with lists as elements",
                Value::Null => "associative list without keys has an element that's an explicit null",
                scalar => return Ok(PathElement::Value(scalar.clone())),
            };
            return Err(wrong.to_owned());
        }
        let map = match item {
            Value::Object(map) => map,
            Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
            _ => return Err("associative list with keys may not have non-map elements".to_owned()),
        };
        let default = |key: &str| match self.item().atom {
            Atom::Struct(def) => def.field(key, 0).and_then(|(_, field)| key_default(field)),
            // Items of atomic lists still have keys with defaults.
            _ => match self.atom {
                Atom::List(Shape::Type(id), _) => self.arena.get(*id).field(key, 0).and_then(|(_, f)| key_default(f)),
                _ => None,
            },
        };
        let found = keys.iter().filter_map(|key| Some((key.clone(), map.get(key).cloned().or_else(|| default(key))?)));
        let mut found: Vec<_> = found.collect();
        if found.is_empty() {
            let keys: Vec<_> = keys.iter().map(|k| format!("{k:?}")).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
                keys.join(" ")
            ));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(PathElement::Key(found))
    }

    /// Report whether it is an object of a built-in kind.
    pub fn is_struct(self) -> bool {
        matches!(self.atom, Atom::Struct(def) if def.nature == Nature::Struct)
    }

    /// Return two whole objects as Go represents them, without equal members and without the entries of managed fields,
    /// which are never owned.
    pub fn differing<'v>(self, old: &'v Value, new: &'v Value) -> (Value, Value) {
        let none = Map::new();
        let [before, after] = [old, new].map(|object| object.as_object().unwrap_or(&none));
        let kept = |object: &'v Value, side: &Map, other: &Map| -> Cow<'v, Value> {
            let entries = side.get("metadata").and_then(|metadata| metadata.get("managedFields"));
            if other.is_empty() && entries.is_none() && object.as_object().is_some() {
                // A new object differs as a whole.
                return Cow::Borrowed(object);
            }
            let differ = side.iter().filter(|(key, value)| other.get(key).is_none_or(|twin| !equal(value, twin)));
            let members = differ.map(|(key, value)| match value {
                Value::Object(metadata) if key == "metadata" => {
                    let rest = metadata.iter().filter(|(name, _)| name != "managedFields").cloned();
                    (key.clone(), Value::Object(Map::from_unique(rest.collect())))
                }
                _ => (key.clone(), value.clone()),
            });
            Cow::Owned(Value::Object(Map::from_unique(members.collect())))
        };
        (self.canonical(&kept(old, before, after)), self.canonical(&kept(new, after, before)))
    }

    /// Return the value as Go represents it: with the zero values of fields that JSON never omits.
    pub fn canonical(self, value: &Value) -> Value {
        match (self.atom, value) {
            (Atom::Struct(def), Value::Object(map)) => crate::canonical::fields(self.arena, def, map),
            _ => value.clone(),
        }
    }
}

/// Return the keys of an associative list, empty for a set; the patch strategy replaces a missing list type.
fn keys(field: &Field) -> Option<&[SmolStr]> {
    match &field.list_type {
        Some(ListType::Set) => Some(&[]),
        Some(ListType::Map(keys)) => Some(keys),
        None if matches!(field.patch_strategy.as_deref(), Some("merge" | "merge,retainKeys")) => {
            Some(field.patch_merge_key.as_slice())
        }
        None | Some(ListType::Atomic) => None,
    }
}

/// Return the value of a key absent from an item: the default of its schema, which for a scalar that Go always writes
/// is its zero value (kube-openapi `pkg/generators/openapi.go`, `mustEnforceDefault`).
fn key_default(field: &Field) -> Option<Value> {
    if field.default.is_some() || field.omitempty || field.ptr {
        return field.default.clone();
    }
    match field.shape {
        Shape::Str => Some(Value::from("")),
        Shape::Int32 | Shape::Int64 => Some(Value::from(0_i64)),
        Shape::Bool => Some(Value::from(false)),
        _ => None,
    }
}
