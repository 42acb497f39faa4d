//! Compiled types: what a decoder, an encoder, a patch and a rule need to know of a field.

#![allow(clippy::indexing_slicing, reason = "types and fields are found by the places that they were given")]

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::Value;

/// The place of a type in its arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeId(pub u32);

/// The form of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Str,
    /// A 32-bit integer.
    Int32,
    /// A 64-bit integer.
    Int64,
    /// A boolean.
    Bool,
    /// A floating-point number.
    Double,
    /// Bytes, base64 in JSON.
    Bytes,
    /// A list of one shape.
    List(Box<Shape>),
    /// A map from texts to one shape.
    Map(Box<Shape>),
    /// A type of the arena.
    Type(TypeId),
    /// Any JSON, kept as it came.
    Any,
}

/// Types whose wire form is not that of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `resource.Quantity`: a text or number, canonical text inside.
    Quantity,
    /// `metav1.Time`: RFC 3339 with whole seconds.
    Time,
    /// `metav1.MicroTime`: RFC 3339 with six decimals.
    MicroTime,
    /// `metav1.Duration`: a Go duration.
    Duration,
    /// `intstr.IntOrString`.
    IntOrString,
    /// `runtime.RawExtension`: any JSON, kept as it was given.
    Raw,
    /// `metav1.FieldsV1`: any JSON, kept as text.
    Fields,
    /// `JSONSchemaPropsOrArray`.
    SchemaOrArray,
    /// `JSONSchemaPropsOrBool`.
    SchemaOrBool,
    /// `JSONSchemaPropsOrStringArray`.
    SchemaOrStrings,
    /// `apiextensions.JSON`: any JSON.
    Json,
}

/// How items of a list belong together (`x-kubernetes-list-type`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListType {
    /// Replaced as a whole.
    Atomic,
    /// Distinct scalars.
    Set,
    /// Items told apart by keys.
    Map(Vec<SmolStr>),
}

/// One field of a struct type, in Go's order.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a tag of its own of the Go field")]
pub struct Field {
    /// The JSON name.
    pub name: SmolStr,
    /// The form of its value.
    pub shape: Shape,
    /// Whether Go holds a pointer: an explicit zero is then kept.
    pub ptr: bool,
    /// Whether a zero value is left out of JSON.
    pub omitempty: bool,
    /// Whether a zero struct is left out of JSON too.
    pub omitzero: bool,
    /// Whether the `OpenAPI` schema requires it.
    pub required: bool,
    /// The values it may take, when enumerated.
    pub enums: Vec<SmolStr>,
    /// The default of the schema.
    pub default: Option<Value>,
    /// How its items belong together, when it is a list.
    pub list_type: Option<ListType>,
    /// Whether its map or struct is replaced as a whole.
    pub atomic: bool,
    /// The strategic merge patch strategy: `merge`, `retainKeys`, `merge,retainKeys`, `replace`.
    pub patch_strategy: Option<SmolStr>,
    /// The key of strategic merge patch.
    pub patch_merge_key: Option<SmolStr>,
    /// Whether it is `kind` or `apiVersion` of an object.
    pub type_meta: bool,
    /// Its number in protobuf and the numbers of the messages it is wrapped in; 0 when it has none.
    pub proto: Proto,
}

/// Where a field stands in protobuf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proto {
    /// The field number; 0 for fields without one.
    pub number: u32,
    /// Numbers of the messages of inlined structs around it, outermost first.
    pub via: Vec<u32>,
    /// Whether each value is a message of its own around a list of texts.
    pub wrapped: bool,
}

/// What a protobuf message holds, in the order of its numbers.
#[derive(Clone, Debug)]
pub enum ProtoEntry {
    /// The field at an index.
    Field(u32, u16),
    /// An inlined struct that is a message of its own.
    Group(u32, Vec<ProtoEntry>),
}

/// What an object of a type is in Go, and so what becomes of members that are zero or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nature {
    /// A struct: fields in Go's order, zero values left out or written as each field says.
    #[default]
    Struct,
    /// A map whose members are known: they are kept as they came and written sorted by name.
    Closed,
    /// The same with members of any name beside them.
    Open,
    /// No object at all: its one field says how a list or map that stands inside of another is owned.
    Wrapped,
}

/// Where the fields of a type stand, by name.
#[derive(Clone, Debug)]
pub(crate) enum Index {
    /// Of a type of the catalog.
    Known(FxHashMap<SmolStr, u16>),
    /// Of a type whose names a client chose: places in the order of the names, of which no choice makes a slow table.
    Given(Box<[u32]>),
}

/// A named type.
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// The name, as `io.k8s.api.core.v1.Pod`.
    pub name: SmolStr,
    /// Its fields in Go's order; empty for special types.
    pub fields: Vec<Field>,
    /// Its special form, if any.
    pub special: Option<Special>,
    /// Whether it is replaced as a whole wherever it stands.
    pub atomic: bool,
    /// Whether it is a Go struct or an object of JSON.
    pub nature: Nature,
    /// Group, version and kind of a top-level type.
    pub gvk: Option<(SmolStr, SmolStr, SmolStr)>,
    /// Its fields in the order of protobuf.
    pub proto: Vec<ProtoEntry>,
    pub(crate) index: Index,
}

impl TypeDef {
    /// The field of a JSON name. `hint` is where to look first: the index after the last hit.
    pub fn field(&self, name: &str, hint: usize) -> Option<(usize, &Field)> {
        if let Some(field) = self.fields.get(hint).filter(|f| f.name == name) {
            return Some((hint, field));
        }
        if self.fields.len() <= 8 {
            return self.fields.iter().enumerate().find(|(_, f)| f.name == name);
        }
        let at = match &self.index {
            Index::Known(places) => places.get(name).map(|at| usize::from(*at)),
            Index::Given(order) => {
                let found = order.binary_search_by(|at| self.fields[*at as usize].name.as_str().cmp(name));
                found.ok().map(|place| order[place] as usize)
            }
        }?;
        Some((at, &self.fields[at]))
    }

    /// The last part of the name: Go's name of the type.
    pub fn go_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// Types that refer to each other by place.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    pub(crate) types: Vec<TypeDef>,
    pub(crate) by_name: FxHashMap<SmolStr, TypeId>,
}

impl Arena {
    /// The type at a place.
    pub fn get(&self, id: TypeId) -> &TypeDef {
        &self.types[id.0 as usize]
    }

    /// The place of a name.
    pub fn find(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(name).copied()
    }

    /// All types.
    pub fn types(&self) -> &[TypeDef] {
        &self.types
    }

    /// The zero value that Go writes for a field without `omitempty`.
    pub fn zero(&self, shape: &Shape) -> Zero {
        match shape {
            Shape::Str | Shape::Double | Shape::Int32 | Shape::Int64 | Shape::Bool => Zero::Scalar,
            Shape::Bytes | Shape::List(_) | Shape::Map(_) | Shape::Any => Zero::Null,
            Shape::Type(id) => match self.get(*id).special {
                None => Zero::Struct,
                Some(Special::Quantity | Special::IntOrString | Special::Duration) => Zero::Scalar,
                Some(_) => Zero::Null,
            },
        }
    }
}

/// What stands for an unset field without `omitempty`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    /// `""`, `0`, `false`, `"0"`.
    Scalar,
    /// `null`.
    Null,
    /// An object of its own mandatory fields.
    Struct,
}

/// A type together with the arena it lives in: a schema as a value.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The types.
    pub arena: Arc<Arena>,
    /// The type of the whole object.
    pub root: TypeId,
}

impl Schema {
    /// The type of the whole object.
    pub fn root(&self) -> &TypeDef {
        self.arena.get(self.root)
    }
}
