//! The declaration of a structural schema in expressions (apiserver `pkg/cel/common/schemas.go`, `pkg/cel/types.go`).

#![allow(clippy::arithmetic_side_effects, reason = "sizes are sums of the lengths of names")]

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use hydrofoil_types::{KeySet, Value};
use smol_str::{SmolStr, format_smolstr};

use crate::escape::{escape, is_reserved};

/// The maximum size of a request in bytes, which bounds sizes that the schema does not.
const REQUEST: i64 = 3 * 1024 * 1024;

/// The name of the root type, a prefix of the names of all types.
const ROOT: &str = "selfType";

/// A declared value.
#[derive(Debug)]
pub struct Decl {
    /// The name of an object type in messages.
    pub(crate) name: SmolStr,
    pub(crate) shape: Shape,
    /// Whether null is allowed.
    pub(crate) nullable: bool,
    /// The maximum number of items, members or characters; 0 for types that have none, as upstream.
    pub(crate) max: u64,
    /// The minimum size as JSON in bytes.
    pub(crate) min_size: i64,
}

/// The shape of a declared value.
#[derive(Debug)]
pub(crate) enum Shape {
    /// `x-kubernetes-int-or-string`.
    Dyn,
    /// Any JSON.
    Any,
    Bool,
    Int,
    Double,
    Str,
    Bytes,
    Duration,
    Date,
    Time,
    List(Arc<Decl>, Order),
    Map(Arc<Decl>),
    Object(Fields),
}

/// The members of an object; a large one has an index.
#[derive(Debug)]
pub(crate) struct Fields {
    list: Box<[Field]>,
    index: Option<Box<Index>>,
}

/// The places of members by either of their names.
#[derive(Debug, Default)]
struct Index {
    names: HashMap<SmolStr, usize>,
    escaped: HashMap<SmolStr, usize>,
}

/// The number of members from which they are indexed.
const MANY: usize = 16;

impl From<Vec<Field>> for Fields {
    fn from(list: Vec<Field>) -> Self {
        let index = (list.len() > MANY).then(|| {
            let mut index = Index::default();
            for (at, field) in list.iter().enumerate() {
                index.names.entry(field.name.clone()).or_insert(at);
                if let Some(name) = &field.escaped {
                    index.escaped.entry(name.clone()).or_insert(at);
                }
            }
            Box::new(index)
        });
        Self { list: list.into(), index }
    }
}

impl std::ops::Deref for Fields {
    type Target = [Field];

    fn deref(&self) -> &[Field] {
        &self.list
    }
}

impl Fields {
    pub fn field(&self, name: &str) -> Option<&Field> {
        if let Some(index) = &self.index {
            return index.names.get(name).and_then(|at| self.list.get(*at));
        }
        self.list.iter().find(|f| f.name == name)
    }

    fn escaped_field(&self, name: &str) -> Option<&Field> {
        if let Some(index) = &self.index {
            return index.escaped.get(name).and_then(|at| self.list.get(*at));
        }
        self.list.iter().find(|f| f.escaped.as_deref() == Some(name))
    }
}

/// The relevance of the order of a list to its equality.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    Kept,
    Set,
    /// A map list with keys.
    Keyed(Box<[SmolStr]>),
}

/// A member of an object.
#[derive(Debug)]
pub(crate) struct Field {
    /// The name in the object.
    pub name: SmolStr,
    /// The name in expressions; `None` if it cannot be written there.
    pub escaped: Option<SmolStr>,
    pub decl: Arc<Decl>,
}

/// The declaration of any JSON.
static ANY: LazyLock<Arc<Decl>> = LazyLock::new(|| Decl::plain(Shape::Any));

/// Return the declaration of any JSON.
pub(crate) fn any() -> &'static Decl {
    &ANY
}

impl Decl {
    /// Return a declaration without limits; every JSON may be null.
    pub(crate) fn plain(shape: Shape) -> Arc<Self> {
        let nullable = matches!(shape, Shape::Any);
        Arc::new(Self { name: SmolStr::default(), shape, nullable, max: 0, min_size: 0 })
    }

    /// Return an object type without limits.
    pub(crate) fn record(name: &str, fields: Vec<(&str, Arc<Self>)>) -> Arc<Self> {
        let field = |(name, decl)| Field { name: SmolStr::new(name), escaped: escape(name), decl };
        let fields: Vec<Field> = fields.into_iter().map(field).collect();
        let shape = Shape::Object(fields.into());
        Arc::new(Self { name: SmolStr::new(name), shape, nullable: false, max: 0, min_size: 0 })
    }

    /// Return the declaration of a `JSONSchemaProps`; `None` if expressions have no access to it. `root` marks the root
    /// of a resource, whose type and name are always accessible (`SchemaDeclType`).
    pub fn compile(props: &Value, root: bool) -> Option<Arc<Self>> {
        Self::named_type(props, root, ROOT)
    }

    /// Return the declaration with a name for the type of the root.
    pub(crate) fn named_type(props: &Value, root: bool, name: &str) -> Option<Arc<Self>> {
        let nullable = flag(props, "nullable");
        let make = |shape, max: i64, min_size| {
            let max = max.max(0) as u64;
            Some(Arc::new(Self { name: SmolStr::new(name), shape, nullable, max, min_size }))
        };
        let max_length = props.int_at(&["maxLength"]);
        if flag(props, "x-kubernetes-int-or-string") {
            return make(Shape::Dyn, max_length.map_or(REQUEST - 2, |n| n.max(0).saturating_mul(4)), 1);
        }
        match if root { "object" } else { props.str_at(&["type"]) } {
            "array" => {
                let item = props.get("items").filter(|i| i.as_object().is_some())?;
                let item =
                    Self::named_type(item, flag(item, "x-kubernetes-embedded-resource"), &format!("{name}.@idx"))?;
                let max = props.int_at(&["maxItems"]).unwrap_or((REQUEST - 2) / (item.min_size + 1));
                let order = match props.str_at(&["x-kubernetes-list-type"]) {
                    "set" => Order::Set,
                    "map" => Order::Keyed(
                        props
                            .list_at(&["x-kubernetes-list-map-keys"])
                            .iter()
                            .filter_map(Value::as_str)
                            .map(SmolStr::new)
                            .collect(),
                    ),
                    _ => Order::Kept,
                };
                make(Shape::List(item, order), max, 2)
            }
            "object" => {
                if let Some(value) = props.get("additionalProperties").filter(|a| a.as_object().is_some()) {
                    let embedded = flag(value, "x-kubernetes-embedded-resource");
                    let value = Self::named_type(value, embedded, &format!("{name}.@elem"))?;
                    let max = props.int_at(&["maxProperties"]).unwrap_or((REQUEST - 2) / (value.min_size + 6));
                    return make(Shape::Map(value), max, 2);
                }
                let (fields, min_size) = fields(props, root, name);
                make(Shape::Object(fields.into()), 0, min_size)
            }
            "string" => match props.str_at(&["format"]) {
                "byte" => make(Shape::Bytes, max_length.unwrap_or(REQUEST - 2), 2),
                "duration" => make(Shape::Duration, 32, 3),
                "date" => make(Shape::Date, 12, 12),
                "date-time" => make(Shape::Time, 32, 21),
                _ => {
                    let longest = props.list_at(&["enum"]).iter().filter_map(Value::as_str).map(str::len).max();
                    let max = max_length
                        .map(|n| n.max(0).saturating_mul(4))
                        .or(longest.map(|n| n as i64))
                        .unwrap_or(REQUEST - 2);
                    make(Shape::Str, max, 2)
                }
            },
            "boolean" => make(Shape::Bool, 0, 4),
            "number" => make(Shape::Double, 0, 1),
            "integer" => make(Shape::Int, 0, 1),
            _ => None,
        }
    }

    /// Return the same as a root of type names: nested values have types of their own where their rules are compiled.
    pub(crate) fn as_root(&self) -> Arc<Self> {
        self.rename(ROOT)
    }

    /// Report whether it is a root of type names.
    pub(crate) fn is_root(&self) -> bool {
        self.name == ROOT
    }

    fn rename(&self, name: &str) -> Arc<Self> {
        let shape = match &self.shape {
            Shape::Dyn => Shape::Dyn,
            Shape::Any => Shape::Any,
            Shape::Bool => Shape::Bool,
            Shape::Int => Shape::Int,
            Shape::Double => Shape::Double,
            Shape::Str => Shape::Str,
            Shape::Bytes => Shape::Bytes,
            Shape::Duration => Shape::Duration,
            Shape::Date => Shape::Date,
            Shape::Time => Shape::Time,
            Shape::List(of, order) => Shape::List(of.rename(&format!("{name}.@idx")), order.clone()),
            Shape::Map(of) => Shape::Map(of.rename(&format!("{name}.@elem"))),
            Shape::Object(fields) => Shape::Object(
                fields
                    .iter()
                    .map(|f| Field {
                        name: f.name.clone(),
                        escaped: f.escaped.clone(),
                        decl: f.decl.rename(&format!("{name}.{}", f.escaped.as_deref().unwrap_or(""))),
                    })
                    .collect::<Vec<_>>()
                    .into(),
            ),
        };
        Arc::new(Self { name: SmolStr::new(name), shape, ..*self })
    }

    /// Return the declared items of a list or values of a map.
    pub fn element(&self) -> Option<&Arc<Self>> {
        match &self.shape {
            Shape::List(of, _) | Shape::Map(of) => Some(of),
            Shape::Any => Some(&ANY),
            _ => None,
        }
    }

    /// Return the declaration of a member by its name in the object.
    pub fn member(&self, name: &str) -> Option<&Arc<Self>> {
        match &self.shape {
            Shape::Object(fields) => fields.field(name).map(|f| &f.decl),
            _ => None,
        }
    }

    /// Return the declared field by its name in expressions. Reserved words also match unescaped: `self.namespace` is
    /// `self.__namespace__`.
    pub(crate) fn field(&self, escaped: &str) -> Option<&Field> {
        match &self.shape {
            Shape::Object(fields) => {
                fields.escaped_field(escaped).or_else(|| fields.field(escaped).filter(|_| is_reserved(escaped)))
            }
            _ => None,
        }
    }

    /// Return the maximum number of occurrences in a request (`maxCardinality`).
    pub fn cardinality(&self) -> u64 {
        (REQUEST / (self.min_size + 1)).max(0) as u64
    }
}

fn flag(props: &Value, key: &str) -> bool {
    props.bool_at(&[key]).unwrap_or(false)
}

/// Return the fields of an object, and its minimum size in bytes.
fn fields(props: &Value, root: bool, name: &str) -> (Vec<Field>, i64) {
    let mut out = Vec::new();
    let mut min_size = 2;
    let required: KeySet<&str> = props.list_at(&["required"]).iter().filter_map(Value::as_str).collect();
    let mut seen = KeySet::default();
    let own = props.get("properties").and_then(Value::as_object);
    let meta = if root { root_fields(own) } else { Vec::new() };
    for (key, prop) in meta.iter().chain(own.into_iter().flatten()) {
        if seen.contains(&key.as_str()) {
            continue;
        }
        let embedded = flag(prop, "x-kubernetes-embedded-resource");
        let escaped = escape(key);
        let Some(decl) =
            Decl::named_type(prop, embedded, &format_smolstr!("{name}.{}", escaped.as_deref().unwrap_or("")))
        else {
            continue;
        };
        seen.insert(key.as_str());
        if required.contains(&key.as_str()) && prop.get("default").is_none() {
            min_size += key.len() as i64 + decl.min_size + 4;
        }
        out.push(Field { name: key.clone(), escaped, decl });
    }
    (out, min_size)
}

/// Return the members of every resource, where its schema does not define them (`WithTypeAndObjectMeta`).
fn root_fields(own: Option<&hydrofoil_types::Map>) -> Vec<(SmolStr, Value)> {
    let kind = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        own?.get(first)?.at(rest)?.get("type")?.as_str()
    };
    let text = |path: &[&str]| kind(path) == Some("string");
    if text(&["kind"])
        && text(&["apiVersion"])
        && kind(&["metadata"]) == Some("object")
        && text(&["metadata", "properties", "name"])
        && text(&["metadata", "properties", "generateName"])
    {
        return Vec::new();
    }
    let object = |members: Vec<(&str, Value)>| {
        let mut map = hydrofoil_types::Map::new();
        for (key, value) in members {
            map.push(key, value);
        }
        Value::Object(map)
    };
    let string = || object(vec![("type", Value::from("string"))]);
    let names = object(vec![("name", string()), ("generateName", string())]);
    let metadata = object(vec![("type", Value::from("object")), ("properties", names)]);
    vec![("kind".into(), string()), ("apiVersion".into(), string()), ("metadata".into(), metadata)]
}
