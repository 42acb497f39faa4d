//! Arenas of types that do not come from the catalog.

#![allow(clippy::arithmetic_side_effects, reason = "an arena that was pushed to is not empty")]
#![allow(clippy::indexing_slicing, reason = "types are found by the places that they were given")]

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::schema::{Arena, Field, Index, ListType, Nature, Proto, Shape, TypeDef, TypeId};
use crate::{Schema, Value};

/// `metav1.ObjectMeta`.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

impl Field {
    /// Return a member of a JSON object.
    pub fn member(name: impl Into<SmolStr>, shape: Shape) -> Self {
        Self {
            name: name.into(),
            shape,
            ptr: true,
            omitempty: true,
            omitzero: false,
            required: false,
            enums: Vec::new(),
            default: None,
            list_type: None,
            atomic: false,
            patch_strategy: None,
            patch_merge_key: None,
            type_meta: false,
            proto: Proto::default(),
        }
    }

    /// Return the same with a default, a list type and whether it is replaced as a whole.
    #[must_use]
    pub fn with_ownership(mut self, default: Option<Value>, list_type: Option<ListType>, atomic: bool) -> Self {
        self.default = default;
        self.list_type = list_type;
        self.atomic = atomic;
        self
    }
}

impl TypeDef {
    /// Return a type of JSON objects.
    pub fn members(name: impl Into<SmolStr>, nature: Nature, atomic: bool, fields: Vec<Field>) -> Self {
        let index = index(&fields);
        Self { name: name.into(), fields, special: None, atomic, nature, gvk: None, proto: Vec::new(), index }
    }
}

fn index(fields: &[Field]) -> Index {
    let mut order: Box<[u32]> = (0..fields.len() as u32).collect();
    order.sort_by(|a, b| fields[*a as usize].name.cmp(&fields[*b as usize].name));
    Index::Given(order)
}

impl Arena {
    /// Add a type.
    pub fn push(&mut self, def: TypeDef) -> TypeId {
        self.types.push(def);
        TypeId(self.types.len() as u32 - 1)
    }

    /// Return an arena of the metadata that objects of every kind have, and its place. `sorted`: members are in the
    /// order of their names, as a map writes them.
    ///
    /// # Panics
    /// If this arena has no metadata, as only an empty one.
    pub fn with_metadata(&self, sorted: bool) -> (Self, TypeId) {
        let mut out = Self::default();
        let root = self.find(OBJECT_META).expect("the catalog has ObjectMeta");
        let mut known = FxHashMap::default();
        let id = self.copy(root, sorted, &mut out, &mut known);
        (out, id)
    }

    /// Return the schema of the metadata alone.
    ///
    /// # Panics
    /// As `with_metadata`.
    pub fn metadata(self: &std::sync::Arc<Self>) -> Schema {
        Schema { arena: std::sync::Arc::clone(self), root: self.find(OBJECT_META).expect("the catalog has ObjectMeta") }
    }

    /// Return the schema of objects of which only type and metadata are known; other members may be anything.
    ///
    /// # Panics
    /// As `with_metadata`.
    /// As `with_metadata`.
    pub fn custom(&self) -> Schema {
        let (mut arena, metadata) = self.with_metadata(true);
        let fields = vec![
            Field::member("apiVersion", Shape::Str),
            Field::member("kind", Shape::Str),
            Field::member("metadata", Shape::Type(metadata)),
        ];
        let root = arena.push(TypeDef::members("", Nature::Open, false, fields));
        Schema { arena: std::sync::Arc::new(arena), root }
    }

    fn copy(&self, id: TypeId, sorted: bool, out: &mut Self, known: &mut FxHashMap<u32, TypeId>) -> TypeId {
        if let Some(found) = known.get(&id.0) {
            return *found;
        }
        let mut def = self.get(id).clone();
        let copied = out.push(def.clone());
        known.insert(id.0, copied);
        if sorted {
            def.fields.sort_by(|a, b| a.name.cmp(&b.name));
            def.index = index(&def.fields);
        }
        for field in &mut def.fields {
            self.move_shape(&mut field.shape, sorted, out, known);
        }
        out.types[copied.0 as usize] = def;
        copied
    }

    fn move_shape(&self, shape: &mut Shape, sorted: bool, out: &mut Self, known: &mut FxHashMap<u32, TypeId>) {
        match shape {
            Shape::List(inner) | Shape::Map(inner) => self.move_shape(inner, sorted, out, known),
            Shape::Type(id) => *id = self.copy(*id, sorted, out, known),
            _ => {}
        }
    }
}
