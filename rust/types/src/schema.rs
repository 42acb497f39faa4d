//! Compiled types: the properties of fields that decoders, encoders, patches and validation need.

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
    /// A string.
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
    /// A list of items of one shape.
    List(Box<Shape>),
    /// A map from strings to one shape.
    Map(Box<Shape>),
    /// A type of the arena.
    Type(TypeId),
    /// Any JSON, kept as given.
    Any,
}

/// Types whose wire form differs from a struct's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `resource.Quantity`: a string or number, in memory a canonical string.
    Quantity,
    /// `metav1.Time`: RFC 3339 with whole seconds.
    Time,
    /// `metav1.MicroTime`: RFC 3339 with six decimals.
    MicroTime,
    /// `metav1.Duration`: a Go duration.
    Duration,
    /// `intstr.IntOrString`.
    IntOrString,
    /// `runtime.RawExtension`: any JSON, kept as given.
    Raw,
    /// `metav1.FieldsV1`: any JSON, kept as a string.
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

/// The list type (`x-kubernetes-list-type`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListType {
    /// Replaced as a whole.
    Atomic,
    /// Distinct scalars.
    Set,
    /// Items identified by keys.
    Map(Vec<SmolStr>),
}

/// A field of a struct type, in Go's order.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a tag of its own of the Go field")]
pub struct Field {
    /// The JSON name.
    pub name: SmolStr,
    /// The form of its value.
    pub shape: Shape,
    /// Whether it is a pointer in Go: an explicit zero is kept.
    pub ptr: bool,
    /// Whether JSON omits a zero value.
    pub omitempty: bool,
    /// Whether JSON also omits a zero struct.
    pub omitzero: bool,
    /// Whether the `OpenAPI` schema requires it.
    pub required: bool,
    /// The values of its enum, if any.
    pub enums: Vec<SmolStr>,
    /// The default value in the schema.
    pub default: Option<Value>,
    /// The list type, if it is a list.
    pub list_type: Option<ListType>,
    /// Whether its map or struct is replaced as a whole.
    pub atomic: bool,
    /// The strategic merge patch strategy: `merge`, `retainKeys`, `merge,retainKeys`, `replace`.
    pub patch_strategy: Option<SmolStr>,
    /// The key of strategic merge patch.
    pub patch_merge_key: Option<SmolStr>,
    /// Whether it is `kind` or `apiVersion` of an object.
    pub type_meta: bool,
    /// Its number in protobuf and the numbers of the messages around it; 0 if it has none.
    pub proto: Proto,
}

/// The location of a field in protobuf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proto {
    /// The field number; 0 for fields without one.
    pub number: u32,
    /// The numbers of the messages of enclosing inlined structs, outermost first.
    pub via: Vec<u32>,
    /// Whether each value is a message of its own around a list of strings.
    pub wrapped: bool,
}

/// An entry of a protobuf message, in the order of numbers.
#[derive(Clone, Debug)]
pub enum ProtoEntry {
    /// The field at an index.
    Field(u32, u16),
    /// An inlined struct that is a message of its own.
    Group(u32, Vec<ProtoEntry>),
}

/// The Go type behind an object of a type, which decides how zero and unknown members are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nature {
    /// A struct: fields in Go's order, zero values omitted or written as each field specifies.
    #[default]
    Struct,
    /// A map with known members: they are kept as given and written sorted by name.
    Closed,
    /// The same, with members of any other name allowed.
    Open,
    /// Not an object: its one field describes the ownership of a list or map nested in another.
    Wrapped,
}

/// The index of the fields of a type by name.
#[derive(Clone, Debug)]
pub(crate) enum Index {
    /// For a type of the catalog.
    Known(FxHashMap<SmolStr, u16>),
    /// For a type with names chosen by a client: places sorted by name, so that no choice of names makes look-up slow.
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
    /// Whether it is replaced as a whole wherever it is used.
    pub atomic: bool,
    /// Whether it is a Go struct or a JSON object.
    pub nature: Nature,
    /// Group, version and kind of a top-level type.
    pub gvk: Option<(SmolStr, SmolStr, SmolStr)>,
    /// Its fields in the order of protobuf.
    pub proto: Vec<ProtoEntry>,
    pub(crate) index: Index,
}

impl TypeDef {
    /// Return the field of a JSON name. `hint` is the index to try first: the one after the last hit.
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

    /// Return the last part of the name: Go's name of the type.
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
    /// Return the type at a place.
    pub fn get(&self, id: TypeId) -> &TypeDef {
        &self.types[id.0 as usize]
    }

    /// Return the place of a name.
    pub fn find(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(name).copied()
    }

    /// Return all types.
    pub fn types(&self) -> &[TypeDef] {
        &self.types
    }

    /// Return the zero value that Go writes for a field without `omitempty`.
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

/// The form of an unset field without `omitempty`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    /// `""`, `0`, `false`, `"0"`.
    Scalar,
    /// `null`.
    Null,
    /// An object of its own mandatory fields.
    Struct,
}

/// A type together with its arena: a schema as a value.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The types.
    pub arena: Arc<Arena>,
    /// The type of the whole object.
    pub root: TypeId,
}

impl Schema {
    /// Return the type of the whole object.
    pub fn root(&self) -> &TypeDef {
        self.arena.get(self.root)
    }
}
